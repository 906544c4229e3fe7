package external

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// watchOverlap is how far a check reaches back into the period of the previous check: a
	// failure may become visible this long after its timestamp.
	watchOverlap = time.Minute
	// watchPatience limits the duration of one step of a check.
	watchPatience = 30 * time.Second
	// watchPage is the number of jobs that are read, and notices that are stored, at a time.
	watchPage = 500
	// watchNames is the largest number of tenants that a query lists by name; with more
	// tenants, the query covers all.
	watchNames = 100
)

// Watch finds jobs that failed for good while no node could report the failure, and stores
// notices for their tenants. A failure goes unreported if the node died at that moment, the
// job's deadline passed, the job crashed too often, or the tenant itself reported the
// failure. Watch runs until ctx ends. Many nodes may run it concurrently.
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

// watch is the state of one Watch between checks.
type watch struct {
	*Courier
	seen time.Time            // all earlier failures have notices, except those that became visible late; zero = first check
	told map[string]time.Time // keys of stored notices that the next check finds again, with the end times of their jobs
}

// look finds the jobs that have failed since the last successful check, and stores the
// notices.
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

// listening returns the tenants that want notices.
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

// lookSince stores the notices of all failures of these tenants since a time.
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

// eventsOf returns the events of a failed job that its tenant may want notices of.
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

// bounded calls ask with a timeout.
func bounded[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return ask(ctx)
}
