package external

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// watchOverlap is how far a look reaches behind the one before: a failure may
	// become visible so long after the moment it is dated.
	watchOverlap = time.Minute
	// watchPatience bounds one step of a look.
	watchPatience = 30 * time.Second
	// watchPage is how many jobs are looked at, and notices made of, at a time.
	watchPage = 500
	// watchNames is how many tenants are asked for by name; of more, all are.
	watchNames = 100
)

// Watch looks for jobs that failed for good without a node to tell of it: it
// died just then, the job's deadline passed, its crashes were too many, or the
// tenant itself said so. It goes on until ctx ends, and may run on many nodes.
func (c *Courier) Watch(ctx context.Context) {
	w := watch{Courier: c, told: map[string]time.Time{}}
	ticker := time.NewTicker(c.options.Every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("search for failures without a notice failed", "error", err, "retry_in", c.options.Every)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// watch is what one Watch remembers between looks.
type watch struct {
	*Courier
	seen time.Time            // up to here all have notices, but for what became visible late; zero: this is the first look
	told map[string]time.Time // keys of stored notices that the next look finds again, with the end of their jobs
}

// look finds what has failed since the last look that went through, and stores
// the notices.
func (w *watch) look(ctx context.Context) error {
	now, err := bounded(ctx, w.store.Now)
	if err != nil {
		return err
	}
	tenants, err := w.listening(ctx)
	if err != nil {
		return err
	}
	for _, job := range w.owed.take() { // the store answers again
		patient, cancel := context.WithTimeout(ctx, watchPatience)
		w.timedOut(patient, job)
		cancel()
	}
	from := now.Add(-w.options.Window)
	if !w.seen.IsZero() {
		from = w.seen.Add(-watchOverlap)
	}
	if len(tenants) > 0 {
		if err := w.lookSince(ctx, from, tenants); err != nil {
			return err
		}
	}
	w.seen = now
	for key, ended := range w.told {
		if ended.Before(now.Add(-watchOverlap)) {
			delete(w.told, key)
		}
	}
	return nil
}

// listening are the tenants that want notices.
func (w *watch) listening(ctx context.Context) (map[string]fairlead.Tenant, error) {
	found := map[string]fairlead.Tenant{}
	filter := fairlead.TenantFilter{Limit: watchPage}
	for {
		page, err := bounded(ctx, func(ctx context.Context) ([]fairlead.Tenant, error) { return w.client.Tenants(ctx, filter) })
		if err != nil {
			return nil, err
		}
		for _, tenant := range page {
			if tenant.FailURL != "" || tenant.TimeoutURL != "" {
				found[tenant.Name] = tenant
			}
			filter.After = tenant.Name
		}
		if len(page) < watchPage {
			return found, nil
		}
	}
}

// lookSince stores the notices of all failures of these tenants from a time on.
func (w *watch) lookSince(ctx context.Context, from time.Time, tenants map[string]fairlead.Tenant) error {
	filter := fairlead.Filter{States: []fairlead.State{fairlead.Failed}, FinishedFrom: from, Limit: watchPage}
	if len(tenants) <= watchNames {
		for name := range tenants {
			filter.Tenants = append(filter.Tenants, name)
		}
	}
	for {
		page, err := bounded(ctx, func(ctx context.Context) (fairlead.Page, error) { return w.client.Find(ctx, filter) })
		if err != nil {
			return err
		}
		if err := w.tellAll(ctx, page.Jobs, tenants); err != nil {
			return err
		}
		if filter.Below = page.Next; page.Next == 0 {
			return nil
		}
	}
}

// tellAll stores the notices of failed jobs.
func (w *watch) tellAll(ctx context.Context, jobs []*fairlead.Job, tenants map[string]fairlead.Tenant) error {
	var bringers []*fairlead.Job
	ends := map[string]time.Time{}
	for _, job := range jobs {
		for _, event := range eventsOf(job) {
			n := about(event, job)
			if _, told := w.told[n.key()]; told || n.url(tenants[job.Tenant]) == "" {
				continue
			}
			bringer, err := n.job(job.Trace)
			if err != nil {
				return err
			}
			bringers = append(bringers, bringer)
			ends[n.key()] = job.FinishedAt
		}
	}
	if len(bringers) == 0 {
		return nil
	}
	_, err := bounded(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, w.client.Enqueue(ctx, bringers...)
	})
	if err != nil {
		return err
	}
	for key, ended := range ends {
		w.told[key] = ended
	}
	return nil
}

// eventsOf lists what a failed job's tenant may want to hear.
func eventsOf(job *fairlead.Job) []string {
	switch {
	case job.Kind == NoticeKind:
		return nil
	case job.Reason == fairlead.ReasonTimeout, job.Reason == fairlead.ReasonDeadline:
		return []string{eventFailed, eventTimeout}
	default:
		return []string{eventFailed}
	}
}

// bounded asks the store something and does not wait for its answer forever.
func bounded[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return ask(ctx)
}
