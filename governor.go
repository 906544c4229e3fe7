package fairlead

import "context"

// Governor stores tenants and limits. A change applies to every claim that begins after the
// method has returned, on all nodes.
//
// A limit counts the jobs in its scope that are running or waiting. A claim leases a job
// only if the job fits under all its limits: the global limit and those of its queue, kind,
// tenant and the tenant's parent. The number of counted jobs therefore never exceeds a cap,
// unless the cap was lowered below current use. In that case nothing starts until use is
// below the cap again. Each start also takes a token from every limit that has a rate.
// Tokens are refilled according to the database's clock, and a new rate starts with its full
// burst.
//
// Enqueue checks a tenant's MaxPending against committed jobs. Concurrent callers may
// therefore exceed it together. Other processes learn of a new MaxPending within a second.
type Governor interface {
	// PutTenant creates the tenant if its Version is zero, and otherwise replaces the
	// stored tenant of that Version. It returns the tenant as stored. The caller has
	// passed the tenant through NormalizeTenant. PutTenant returns ErrConflict if the
	// tenant exists or has another Version by now, and ErrNotFound if it does not exist.
	// It returns ErrInvalid if its parent is not declared or has a parent itself, if a
	// tenant with children is given a parent, or if the minimums of all tenants would
	// exceed the global cap.
	PutTenant(ctx context.Context, tenant Tenant) (Tenant, error)
	// DeleteTenant removes a tenant's declaration. Its jobs stay, without limits of their
	// own, and the tenant is no longer paused. DeleteTenant returns ErrNotFound for an
	// undeclared tenant and ErrConflict while the tenant is the parent of others.
	DeleteTenant(ctx context.Context, name string) error
	// Tenants lists declared tenants by name.
	Tenants(ctx context.Context, filter TenantFilter) ([]Tenant, error)
	// SetLimit sets the limit of a scope; a limit with no values set removes the existing
	// one. The caller has passed the limit through NormalizeLimit. SetLimit returns
	// ErrInvalid if the minimums of tenants would exceed the global cap.
	SetLimit(ctx context.Context, limit Limit) error
	// SetLimitSeen sets a limit as SetLimit does, for callers that have read the limit and
	// must not overwrite later changes: it returns ErrConflict unless the limit of that
	// scope still equals seen. If no limit was set, seen has only a scope and a name. The
	// comparison and the change happen in one transaction.
	SetLimitSeen(ctx context.Context, limit, seen Limit) error
	// Limits lists every limit with its use, sorted by scope and name. It includes tenants
	// that have a cap, a rate or a minimum.
	Limits(ctx context.Context) ([]LimitUse, error)
	// Usage returns the current load of all jobs together, of each tenant, of each queue
	// and of each kind. Its duration grows with the number of jobs. With ten thousand
	// live jobs or more, the answer may be up to ten seconds old per million live jobs.
	Usage(ctx context.Context) (UsageReport, error)
	// Explain reports why a job is not running, based on the same facts as a claim, or
	// the status of its current run. It returns ErrNotFound for an unknown job.
	Explain(ctx context.Context, id int64) (Explanation, error)
	// WhatIf compares the jobs that a claim of the given number of jobs would choose now
	// with those that it would choose after the changes. It changes nothing, holds no
	// lock that a claim waits for, and reads little of each lane, regardless of the
	// number of waiting jobs. The caller has passed the question through NormalizeWhatIf.
	// WhatIf returns the errors that PutTenant and SetLimit would.
	WhatIf(ctx context.Context, question WhatIf) (Forecast, error)
}
