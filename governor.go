package fairlead

import "context"

// Governor is who may use how much. What it says holds for every claim that
// begins after a method has returned, on all nodes.
//
// A limit counts the jobs of its scope that are running or waiting. A claim
// leases a job only if that exceeds none of the limits it is under: the global
// one and those of its queue, kind, tenant and the tenant's parent. So at no
// instant do more jobs count than the cap says, unless it was lowered below
// what was in use: then nothing starts until it fits again. Each start also
// takes a token of every limit with a rate; tokens come back by the database's
// clock, and a new rate starts with its burst.
//
// MaxPending of a tenant is judged by what is committed when Enqueue is called:
// callers at the same instant may exceed it together. Other processes know of a
// new bound within a second.
type Governor interface {
	// PutTenant creates the tenant if its Version is zero, else it replaces the
	// one of that Version, and returns it as stored. The tenant has been through
	// NormalizeTenant. It fails with ErrConflict if the tenant exists or has
	// another Version by now, with ErrNotFound if it does not exist, and with
	// ErrInvalid if its parent is not declared or has a parent itself, if it has
	// children and is given a parent, or if the minimums of all tenants would
	// exceed the global cap.
	PutTenant(ctx context.Context, tenant Tenant) (Tenant, error)
	// DeleteTenant removes what was declared of a tenant. Its jobs stay, bounded
	// by nothing of their own any more, and it is no longer paused. It fails with
	// ErrNotFound, and with ErrConflict while it is the parent of others.
	DeleteTenant(ctx context.Context, name string) error
	// Tenants lists declared tenants by name.
	Tenants(ctx context.Context, filter TenantFilter) ([]Tenant, error)
	// SetLimit sets the limit of a scope; one that sets nothing is removed.
	// The limit has been through NormalizeLimit. It fails with ErrInvalid if
	// minimums of tenants would exceed the global cap.
	SetLimit(ctx context.Context, limit Limit) error
	// SetLimitSeen is SetLimit for callers that have read the limit and must not undo what
	// has become of it since: it conflicts unless the limit of that scope is still as seen.
	// A limit with nothing but a scope and a name is seen where none is set. Both are
	// compared in the transaction that sets the limit.
	SetLimitSeen(ctx context.Context, limit, seen Limit) error
	// Limits lists every limit with its use, those of tenants with a cap, a rate
	// or a minimum among them, by scope and name.
	Limits(ctx context.Context) ([]LimitUse, error)
	// Usage returns what all jobs together have and do, and those of each tenant and
	// of each queue. It counts jobs: it takes the longer the more there are. Where ten
	// thousand or more are live, an answer may be as old as ten seconds for each million
	// of them.
	Usage(ctx context.Context) (UsageReport, error)
	// Explain says why a job does not run, from the same facts that a claim
	// decides by, or how it runs. It fails with ErrNotFound.
	Explain(ctx context.Context, id int64) (Explanation, error)
	// WhatIf compares what a claim of so many jobs would choose now with what it would
	// choose after the changes. It changes nothing, holds no lock that a claim waits for,
	// and reads little of each lane, however many jobs wait. The question has been through
	// NormalizeWhatIf. It fails as PutTenant and SetLimit would.
	WhatIf(ctx context.Context, question WhatIf) (Forecast, error)
}
