package fairlead

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead/internal/ensure"
)

// EnsuredTenant is the result of EnsureTenant.
type EnsuredTenant struct {
	Tenant               // the tenant as it is stored now
	Created bool         // the tenant did not exist before
	Changed []Difference // fields that were set back to their declared values
}

// EnsuredLimit is the result of EnsureLimit.
type EnsuredLimit struct {
	Limit                // the limit as it is stored now
	Created bool         // the scope had no limit before
	Changed []Difference // fields that were set back to their declared values
}

// EnsureLog is an optional interface for stores that keep an audit log.
type EnsureLog interface {
	// RecordEnsured adds an entry with the actor "ensure" to the audit log. Without
	// differences, the entry reports that a program created the subject; with differences,
	// that it restored the declared state.
	RecordEnsured(ctx context.Context, action, subject, tenant string, differences []Difference) error
}

// EnsureTenant creates the declared tenant, or restores the stored tenant of the same name
// to the declared state. Programs call it at startup. Any number of programs may call it
// concurrently.
//
// EnsureTenant owns the fields that are set in declared. A zero field keeps its stored
// value. In particular, a tenant that an operator has paused stays paused. If the stored
// value of an owned field differs, EnsureTenant restores the declared value and lists the
// field in Changed. If the stored burst was computed from the rate, it is computed again
// when the rate changes. The audit log records creations and changes under the actor
// "ensure".
//
// EnsureTenant never deletes a tenant: a tenant that the program no longer declares stays
// until a user deletes it. EnsureTenant returns ErrInvalid under the same conditions as
// PutTenant.
func (c *Client) EnsureTenant(ctx context.Context, declared Tenant) (EnsuredTenant, error) {
	return ensure.Retry(func() (EnsuredTenant, error) { return c.ensureTenant(ctx, declared) }, ErrConflict, ErrNotFound)
}

func (c *Client) ensureTenant(ctx context.Context, declared Tenant) (EnsuredTenant, error) {
	checked := declared
	if err := NormalizeTenant(&checked); err != nil {
		return EnsuredTenant{}, err
	}
	stored, err := c.Tenant(ctx, declared.Name)
	created := errors.Is(err, ErrNotFound)
	if err != nil && !created {
		return EnsuredTenant{}, err
	}
	owned := ensure.Owned(declared, "Version", "CreatedAt", "UpdatedAt")
	merged := stored
	ensure.Copy(&merged, &declared, owned)
	if followsRate(declared.Burst, stored.Rate, stored.Burst) {
		merged.Burst = 0
	}
	if err := NormalizeTenant(&merged); err != nil {
		return EnsuredTenant{}, err
	}
	changed := ensure.Differences[Difference](&stored, &merged, owned)
	if len(changed) == 0 {
		return EnsuredTenant{Tenant: stored}, nil
	}
	now, err := c.store.PutTenant(ctx, merged)
	if err != nil {
		return EnsuredTenant{}, err
	}
	if created {
		changed = nil
	}
	err = c.recordEnsured(ctx, "EnsureTenant", "tenant:"+declared.Name, declared.Name, changed)
	return EnsuredTenant{Tenant: now, Created: created, Changed: changed}, err
}

// EnsureLimit sets the declared limit, or restores the existing limit of the same scope to
// the declared state. Like EnsureTenant, it owns the fields that are set in declared and
// removes nothing. EnsureLimit returns ErrInvalid under the same conditions as SetLimit.
func (c *Client) EnsureLimit(ctx context.Context, declared Limit) (EnsuredLimit, error) {
	return ensure.Retry(func() (EnsuredLimit, error) { return c.ensureLimit(ctx, declared) }, ErrConflict)
}

func (c *Client) ensureLimit(ctx context.Context, declared Limit) (EnsuredLimit, error) {
	checked := declared
	if err := NormalizeLimit(&checked); err != nil {
		return EnsuredLimit{}, err
	}
	stored, exists, err := c.limit(ctx, declared.Scope, declared.Name)
	if err != nil {
		return EnsuredLimit{}, err
	}
	owned := ensure.Owned(declared)
	merged := stored
	ensure.Copy(&merged, &declared, owned)
	if followsRate(declared.Burst, stored.Rate, stored.Burst) {
		merged.Burst = 0
	}
	if err := NormalizeLimit(&merged); err != nil {
		return EnsuredLimit{}, err
	}
	changed := ensure.Differences[Difference](&stored, &merged, owned)
	if len(changed) == 0 {
		return EnsuredLimit{Limit: stored}, nil
	}
	if err := c.store.SetLimitSeen(ctx, merged, stored); err != nil {
		return EnsuredLimit{}, err
	}
	if !exists {
		changed = nil
	}
	err = c.recordEnsured(ctx, "EnsureLimit", "limit:"+declared.subject(), "", changed)
	return EnsuredLimit{Limit: merged, Created: !exists, Changed: changed}, err
}

// limit returns the limit of a scope, and whether there is one.
func (c *Client) limit(ctx context.Context, scope LimitScope, name string) (Limit, bool, error) {
	limits, err := c.store.Limits(ctx)
	for i := range limits {
		if limits[i].Scope == scope && limits[i].Name == name {
			return limits[i].Limit, true, err
		}
	}
	return Limit{Scope: scope, Name: name}, false, err
}

// followsRate reports whether a stored burst is the one that a rate has by default, and
// the declaration does not set another.
func followsRate(declared int, rate float64, burst int) bool {
	byRate := Limit{Scope: LimitGlobal, Rate: rate}
	return declared == 0 && burst != 0 && NormalizeLimit(&byRate) == nil && byRate.Burst == burst
}

// recordEnsured writes to the audit log, if the store keeps one.
func (c *Client) recordEnsured(ctx context.Context, action, subject, tenant string, differences []Difference) error {
	log, kept := c.store.(EnsureLog)
	if !kept {
		return nil
	}
	return log.RecordEnsured(ctx, action, subject, tenant, differences)
}
