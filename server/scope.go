package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// scoped is a store as far as the caller of a request may touch it: of callers
// that are bound to tenants it shows and changes what is theirs, and nothing of
// the cluster as a whole. It is the one place that knows about this, so that no
// method of the API can forget it.
//
// What only nodes do is not there: a service that tried it would fail at once.
type scoped struct {
	driver.Worker
	driver.Keeper
	access.Store

	store Store
}

var _ Store = scoped{}

// whole fails for callers that are bound to tenants.
func whole(ctx context.Context) error {
	if callerOf(ctx).identity.bound() {
		return errForbidden
	}
	return nil
}

// job fails for a job that is another's, as if it did not exist.
func (s scoped) job(ctx context.Context, id int64) error {
	if !callerOf(ctx).identity.bound() {
		return nil
	}
	_, err := s.Get(ctx, id)
	return err
}

// actOn fails for a job that the caller may not act upon: one of another tenant, and one
// that carries out a bulk if the caller could not have asked for the bulk.
func (s scoped) actOn(ctx context.Context, id int64) error {
	who := callerOf(ctx).identity
	if who.Role.May(access.RoleOperator) {
		return s.job(ctx, id)
	}
	job, err := s.Get(ctx, id)
	if err == nil && job.Kind == bulk.Kind {
		err = errRole(who.Role, access.RoleOperator)
	}
	if errors.Is(err, fairlead.ErrNotFound) && !who.bound() {
		return nil // as the act itself says it
	}
	return err
}

// Close does nothing: the store belongs to the program.
func (s scoped) Close() error { return nil }

// Enqueue stores jobs of the caller's tenants; once, if the request has a key.
func (s scoped) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if err := s.newJobs(ctx, jobs); err != nil {
		return err
	}
	if once, given := onceOf(ctx); given {
		_, err := s.store.EnqueueOnce(ctx, once, jobs)
		return err
	}
	return s.store.Enqueue(ctx, jobs)
}

// EnqueueOnce stores jobs of the caller's tenants.
func (s scoped) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if err := s.newJobs(ctx, jobs); err != nil {
		return false, err
	}
	return s.store.EnqueueOnce(ctx, once, jobs)
}

// newJobs fails for jobs that are not for the caller to make. Fields of a single job
// are named without its place, as those of NormalizeJobs are.
func (s scoped) newJobs(ctx context.Context, jobs []*fairlead.Job) error {
	for i, job := range jobs {
		prefix := ""
		if len(jobs) > 1 {
			prefix = fmt.Sprintf("jobs[%d].", i)
		}
		if err := checkUnreserved(prefix, job); err != nil {
			return err
		}
		if err := s.unmasked(ctx, prefix+"args", job.Kind, job.Args); err != nil {
			return err
		}
	}
	return ownJobs(ctx, jobs)
}

// ownJobs fails for jobs that are not the caller's to make, by their tenant and by the
// caller's role.
func ownJobs(ctx context.Context, jobs []*fairlead.Job) error {
	who := callerOf(ctx).identity
	for _, job := range jobs {
		if !who.touches(job.Tenant) {
			return errTenant(job.Tenant)
		}
		if job.Kind == sweep.StartKind && !who.Role.May(access.RoleOperator) {
			return errRole(who.Role, access.RoleOperator) // as for who starts a sweep without a job
		}
	}
	return nil
}

// Get returns a job of the caller's.
func (s scoped) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	job, err := s.store.Get(ctx, id)
	if err == nil && !callerOf(ctx).identity.touches(job.Tenant) {
		return nil, driver.NoSuchJob(id)
	}
	return job, err
}

// narrow leaves, of the tenants that a filter names, those of the caller; a filter that
// names none means all. It reports false if none is left: then nothing matches.
func narrow(ctx context.Context, tenants *[]string) bool {
	who := callerOf(ctx).identity
	switch {
	case !who.bound():
		return true
	case len(*tenants) == 0:
		*tenants = who.Tenants
		return true
	}
	*tenants = slices.DeleteFunc(slices.Clone(*tenants), func(name string) bool { return !who.touches(name) })
	return len(*tenants) > 0
}

// visible fails for what a list does not show to the caller, as if it did not exist.
func visible[Filter, Row any](ctx context.Context, what string, id int64, list func(context.Context, Filter) ([]Row, error), filter Filter) error {
	if !callerOf(ctx).identity.bound() {
		return nil
	}
	found, err := list(ctx, filter)
	if err == nil && len(found) == 0 {
		return fmt.Errorf("%s %d: %w", what, id, fairlead.ErrNotFound)
	}
	return err
}

// Find returns the caller's of the jobs that match.
func (s scoped) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Find(ctx, filter)
}

// FindPage returns a page of the caller's of the jobs that match.
func (s scoped) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	if !narrow(ctx, &filter.Tenants) {
		return fairlead.Page{}, nil
	}
	return s.store.FindPage(ctx, filter)
}

// TallyUpTo counts the caller's of the jobs that match, up to a number.
func (s scoped) TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	if !narrow(ctx, &filter.Tenants) {
		return fairlead.Count{}, nil
	}
	return s.store.TallyUpTo(ctx, filter, atMost)
}

// Tally counts the caller's of the jobs that match.
func (s scoped) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Tally(ctx, filter)
}

// Attempts lists the runs of a job of the caller's.
func (s scoped) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	if err := s.job(ctx, id); err != nil {
		return nil, err
	}
	return s.store.Attempts(ctx, id)
}

// Nodes lists the nodes.
func (s scoped) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	if err := whole(ctx); err != nil {
		return nil, err
	}
	return s.store.Nodes(ctx)
}

// Pauses lists what is paused.
func (s scoped) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	if err := whole(ctx); err != nil {
		return nil, err
	}
	return s.store.Pauses(ctx)
}

// Now is the database's clock.
func (s scoped) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

// Cancel ends a job of the caller's.
func (s scoped) Cancel(ctx context.Context, id int64, reason string) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.Cancel(ctx, id, reason)
}

// Reopen makes a job of the caller's ready again.
func (s scoped) Reopen(ctx context.Context, id int64) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.Reopen(ctx, id)
}

// Reschedule sets when a job of the caller's becomes due.
func (s scoped) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.Reschedule(ctx, id, notBefore)
}

// RunNow makes a job of the caller's ready at once.
func (s scoped) RunNow(ctx context.Context, id int64) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.RunNow(ctx, id)
}

// SetPriority changes the priority of a job of the caller's.
func (s scoped) SetPriority(ctx context.Context, id int64, priority int) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.SetPriority(ctx, id, priority)
}

// SetQueue moves a job of the caller's to another queue.
func (s scoped) SetQueue(ctx context.Context, id int64, queue string) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.SetQueue(ctx, id, queue)
}

// Delete removes a job of the caller's.
func (s scoped) Delete(ctx context.Context, id int64) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.Delete(ctx, id)
}

// DeleteSeen removes a job of the caller's that is as the caller saw it.
func (s scoped) DeleteSeen(ctx context.Context, seen *fairlead.Job) error {
	if err := s.actOn(ctx, seen.ID); err != nil {
		return err
	}
	return s.store.DeleteSeen(ctx, seen)
}

// Resolve answers for a job of the caller's.
func (s scoped) Resolve(ctx context.Context, answer fairlead.Settlement) error {
	if err := s.job(ctx, answer.ID); err != nil {
		return err
	}
	return s.store.Resolve(ctx, answer)
}

// Extend gives a job of the caller's more time.
func (s scoped) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	if err := s.job(ctx, extension.ID); err != nil {
		return time.Time{}, err
	}
	return s.store.Extend(ctx, extension)
}

// Explain says why a job of the caller's does not run, or how it runs.
func (s scoped) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	if err := s.job(ctx, id); err != nil {
		return fairlead.Explanation{}, err
	}
	why, err := s.store.Explain(ctx, id)
	if who := callerOf(ctx).identity; err == nil && who.bound() {
		hideOthers(who, &why)
	}
	return why, err
}
