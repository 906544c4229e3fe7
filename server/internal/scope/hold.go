package scope

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// History returns what a job of the caller's tenants waited for. Callers bound to tenants
// see that the parent of a tenant kept the job waiting, but not the parent's name.
func (s Restricted) History(ctx context.Context, id int64) (hold.History, error) {
	if err := s.job(ctx, id); err != nil {
		return hold.History{}, err
	}
	history, err := s.store.History(ctx, id)
	if err != nil {
		return hold.History{}, err
	}
	who := caller.Of(ctx).Identity
	for i := range history.Stretches {
		hideParent(who, history.Stretches[i].Causes, parentKept)
	}
	return history, nil
}

// Holds returns what kept jobs waiting. Callers bound to tenants see the holds of their
// tenants, of the whole cluster, and of a queue and kind that they name: other names would
// reveal information about other tenants. If they name a tenant, they see that its parent
// kept jobs waiting, but not the parent's name.
func (s Restricted) Holds(ctx context.Context, filter hold.Filter) (hold.Page, error) {
	who := caller.Of(ctx).Identity
	if filter.Tenant != "" && !who.MayAccess(filter.Tenant) {
		return hold.Page{}, nil
	}
	page, err := s.store.Holds(ctx, filter)
	if err != nil || !who.Restricted() {
		return page, err
	}
	named := func(name, asked string) bool { return name == "" || name == asked }
	page.Holds = slices.DeleteFunc(page.Holds, func(h hold.Hold) bool {
		switch {
		case h.Tenant == "":
			return !named(h.Queue, filter.Queue) || !named(h.Kind, filter.Kind)
		case h.Gate != "": // gates belong to children, not to their parent
			return !who.MayAccess(h.Tenant)
		}
		return filter.Tenant == "" && !who.MayAccess(h.Tenant)
	})
	for i := range page.Holds {
		if h := &page.Holds[i]; h.Tenant != "" && !who.MayAccess(h.Tenant) {
			h.Tenant, h.Used, h.Cap = "", 0, 0
		}
	}
	return page, nil
}

// HoldLook returns the state of the looks. Like the methods below, it is only for nodes and
// other callers that are not bound to tenants.
func (s Restricted) HoldLook(ctx context.Context) (hold.LookState, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return hold.LookState{}, err
	}
	return s.store.HoldLook(ctx)
}

// OpenHolds returns the ongoing holds.
func (s Restricted) OpenHolds(ctx context.Context) ([]hold.Hold, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.OpenHolds(ctx)
}

// HeldBack reads what keeps ready jobs from starting.
func (s Restricted) HeldBack(ctx context.Context, after hold.Place) (hold.Sight, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return hold.Sight{}, err
	}
	return s.store.HeldBack(ctx, after)
}

// KeepHolds stores the results of a look.
func (s Restricted) KeepHolds(ctx context.Context, found hold.Found) (bool, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return false, err
	}
	return s.store.KeepHolds(ctx, found)
}

// PruneHolds deletes old holds.
func (s Restricted) PruneHolds(ctx context.Context, keep time.Duration, most, limit int) (int, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return 0, err
	}
	return s.store.PruneHolds(ctx, keep, most, limit)
}

// KeepSample stores a sample.
func (s Restricted) KeepSample(ctx context.Context) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.KeepSample(ctx)
}

// Samples returns the activity of the whole cluster, for callers that are not bound to
// tenants.
func (s Restricted) Samples(ctx context.Context, from, to time.Time) ([]hold.Sample, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Samples(ctx, from, to)
}
