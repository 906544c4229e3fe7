// Package scope restricts a store to what the caller of a request may see and change.
package scope

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
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/sweep"
)

// Restricted restricts a store to what the caller of a request may access: callers bound to
// tenants see and change only objects of their tenants, and nothing of the cluster as a
// whole. It is the only place with this logic, so that no API method can forget it.
//
// It lacks the operations of nodes except Held: a service that called one would fail at
// once.
type Restricted struct {
	driver.Worker
	driver.Keeper
	access.Store

	store Store
}

var _ Store = Restricted{}

// A Store provides every database operation that the service needs.
type Store interface {
	driver.Store
	access.Store
}

// New returns the store of all callers.
func New(store Store) Restricted { return Restricted{store: store} }

// RequireUnrestricted returns an error for callers bound to tenants.
func RequireUnrestricted(ctx context.Context) error {
	if caller.Of(ctx).Identity.Restricted() {
		return caller.ErrForbidden
	}
	return nil
}

// job returns ErrNotFound for a job of another tenant.
func (s Restricted) job(ctx context.Context, id int64) error {
	if !caller.Of(ctx).Identity.Restricted() {
		return nil
	}
	_, err := s.Get(ctx, id)
	return err
}

// actOn returns an error for a job that the caller may not act on: a job of another tenant,
// or a job that carries out a bulk if the caller could not have started the bulk.
func (s Restricted) actOn(ctx context.Context, id int64) error {
	who := caller.Of(ctx).Identity
	if who.Role.May(access.RoleOperator) {
		return s.job(ctx, id)
	}
	job, err := s.Get(ctx, id)
	if err == nil && job.Kind == bulk.Kind {
		err = caller.ErrRole(who.Role, access.RoleOperator)
	}
	if errors.Is(err, fairlead.ErrNotFound) && !who.Restricted() {
		return nil // the action itself reports it
	}
	return err
}

// Close does nothing: the store belongs to the program.
func (s Restricted) Close() error { return nil }

// Enqueue stores jobs of the caller's tenants; only once if the request has an idempotency
// key.
func (s Restricted) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if err := s.newJobs(ctx, jobs); err != nil {
		return err
	}
	if once, given := caller.OnceOf(ctx); given {
		_, err := s.store.EnqueueOnce(ctx, once, jobs)
		return err
	}
	return s.store.Enqueue(ctx, jobs)
}

// EnqueueOnce stores jobs of the caller's tenants.
func (s Restricted) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if err := s.newJobs(ctx, jobs); err != nil {
		return false, err
	}
	return s.store.EnqueueOnce(ctx, once, jobs)
}

// newJobs returns an error for jobs that the caller must not create. Like NormalizeJobs, it
// names the fields of a single job without an index.
func (s Restricted) newJobs(ctx context.Context, jobs []*fairlead.Job) error {
	for i, job := range jobs {
		prefix := ""
		if len(jobs) > 1 {
			prefix = fmt.Sprintf("jobs[%d].", i)
		}
		if err := CheckUnreserved(prefix, job); err != nil {
			return err
		}
		if err := s.unmasked(ctx, prefix+"args", job.Kind, job.Args); err != nil {
			return err
		}
	}
	return ownJobs(ctx, jobs)
}

// ownJobs returns an error for jobs that the caller must not create because of their tenant
// or the caller's role.
func ownJobs(ctx context.Context, jobs []*fairlead.Job) error {
	who := caller.Of(ctx).Identity
	for _, job := range jobs {
		if !who.MayAccess(job.Tenant) {
			return caller.ErrTenant(job.Tenant)
		}
		if job.Kind == sweep.StartKind && !who.Role.May(access.RoleOperator) {
			return caller.ErrRole(who.Role, access.RoleOperator) // as for starting a sweep without a job
		}
	}
	return nil
}

// Get returns a job of the caller's tenants.
func (s Restricted) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	job, err := s.store.Get(ctx, id)
	if err == nil && !caller.Of(ctx).Identity.MayAccess(job.Tenant) {
		return nil, driver.NoSuchJob(id)
	}
	return job, err
}

// narrow restricts the tenants of a filter to those of the caller; a filter without tenants
// includes all of them. It returns false if none is left, so that nothing matches.
func narrow(ctx context.Context, tenants *[]string) bool {
	who := caller.Of(ctx).Identity
	switch {
	case !who.Restricted():
		return true
	case len(*tenants) == 0:
		*tenants = who.Tenants
		return true
	}
	*tenants = slices.DeleteFunc(slices.Clone(*tenants), func(name string) bool { return !who.MayAccess(name) })
	return len(*tenants) > 0
}

// visible returns ErrNotFound for an object that the list does not show to the caller.
func visible[Filter, Row any](ctx context.Context, what string, id int64, list func(context.Context, Filter) ([]Row, error), filter Filter) error {
	if !caller.Of(ctx).Identity.Restricted() {
		return nil
	}
	found, err := list(ctx, filter)
	if err == nil && len(found) == 0 {
		return fmt.Errorf("%s %d: %w", what, id, fairlead.ErrNotFound)
	}
	return err
}

// Find returns the matching jobs of the caller's tenants.
func (s Restricted) Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Find(ctx, filter)
}

// FindPage returns a page of the matching jobs of the caller's tenants.
func (s Restricted) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	if !narrow(ctx, &filter.Tenants) {
		return fairlead.Page{}, nil
	}
	return s.store.FindPage(ctx, filter)
}

// TallyUpTo counts the matching jobs of the caller's tenants, up to a maximum.
func (s Restricted) TallyUpTo(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	if !narrow(ctx, &filter.Tenants) {
		return fairlead.Count{}, nil
	}
	return s.store.TallyUpTo(ctx, filter, atMost)
}

// Tally counts the matching jobs of the caller's tenants.
func (s Restricted) Tally(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Tally(ctx, filter)
}

// Attempts returns the runs of a job of the caller's tenants.
func (s Restricted) Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error) {
	if err := s.job(ctx, id); err != nil {
		return nil, err
	}
	return s.store.Attempts(ctx, id)
}

// Nodes returns the nodes.
func (s Restricted) Nodes(ctx context.Context) ([]fairlead.Node, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Nodes(ctx)
}

// Pauses returns all pauses, or those of the tenants that the caller is bound to: tenants
// share queues and kinds.
func (s Restricted) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	pauses, err := s.store.Pauses(ctx)
	if who := caller.Of(ctx).Identity; err == nil && who.Restricted() {
		pauses = slices.DeleteFunc(pauses, func(p fairlead.Pause) bool { return p.Scope != fairlead.PauseTenant || !who.MayAccess(p.Name) })
	}
	return pauses, err
}

// Now returns the time of the database's clock.
func (s Restricted) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

// Operate changes a job of the caller's tenants.
func (s Restricted) Operate(ctx context.Context, id int64, operation fairlead.Operation) error {
	if err := s.actOn(ctx, id); err != nil {
		return err
	}
	return s.store.Operate(ctx, id, operation)
}

// Resolve answers a waiting job of the caller's tenants.
func (s Restricted) Resolve(ctx context.Context, answer fairlead.Settlement) error {
	if err := s.job(ctx, answer.ID); err != nil {
		return err
	}
	return s.store.Resolve(ctx, answer)
}

// Extend extends the deadline of a job of the caller's tenants.
func (s Restricted) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	if err := s.job(ctx, extension.ID); err != nil {
		return time.Time{}, err
	}
	return s.store.Extend(ctx, extension)
}

// Explain returns why a job of the caller's tenants does not run, or details of its current
// run.
func (s Restricted) Explain(ctx context.Context, id int64) (fairlead.Explanation, error) {
	if err := s.job(ctx, id); err != nil {
		return fairlead.Explanation{}, err
	}
	why, err := s.store.Explain(ctx, id)
	if who := caller.Of(ctx).Identity; err == nil && who.Restricted() {
		hideOthers(who, &why)
	}
	return why, err
}
