package external

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// unanswered reports that the answers for waiting jobs did not arrive in time, before the
// store records it. If it fails, Watch tries again: if such a job is retried, the store has
// no end of it that Watch could find.
func (c *Courier) unanswered(ctx context.Context, jobs []*fairlead.Job) {
	byTenant := map[string][]*fairlead.Job{}
	for _, job := range jobs {
		byTenant[job.Tenant] = append(byTenant[job.Tenant], job)
	}
	for tenant, missed := range byTenant {
		if err := c.tellUnanswered(ctx, tenant, missed); err != nil {
			c.log.Warn("notices of missed deadlines not stored yet", "tenant", tenant, "jobs", len(missed), "error", err)
			c.owe(missed)
		}
	}
}

// tellUnanswered stores the notices of the missed deadlines of one tenant, if it wants
// them. There are no notices about notices.
func (c *Courier) tellUnanswered(ctx context.Context, tenant string, jobs []*fairlead.Job) error {
	to, err := c.recipients.find(ctx, tenant, hasTimeoutURL)
	if err != nil || to.TimeoutURL == "" || tenant == NoticeTenant {
		return err
	}
	var bringers []*fairlead.Job
	for _, job := range jobs {
		missed := *job
		missed.Reason, missed.Error = fairlead.ReasonDeadline, overdueText
		bringer, err := about(eventTimeout, &missed).job(job.Trace)
		if err != nil {
			return err
		}
		bringers = append(bringers, bringer)
	}
	return c.client.Enqueue(ctx, bringers...)
}

// owe retains jobs with notices that could not be stored.
func (c *Courier) owe(jobs []*fairlead.Job) {
	for _, job := range jobs {
		if !c.owed.add(job) {
			c.logOf(job).Error("timeout notice dropped: too many are pending")
		}
	}
}
