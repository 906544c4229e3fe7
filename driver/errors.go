package driver

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// IllegalMove returns the ErrConflict for an action that the job's state forbids. All
// stores use it, so the error text is the same everywhere.
func IllegalMove(action string, id int64, state fairlead.State) error {
	return fmt.Errorf("cannot %s job %d: it is %s: %w", action, id, state, fairlead.ErrConflict)
}

// NoSuchJob returns the ErrNotFound for a job ID.
func NoSuchJob(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrNotFound) }

// LeaseLost returns the ErrLeaseLost for a job whose lease has ended.
func LeaseLost(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrLeaseLost) }

// NodeLost returns the ErrLeaseLost for a dead or unknown node.
func NodeLost(node fairlead.NodeID) error {
	return fmt.Errorf("node %d: %w", node, fairlead.ErrLeaseLost)
}

// KeyTaken returns the ErrConflict for a key that another job holds.
func KeyTaken(tenant, key string, holder int64) error {
	return fmt.Errorf("key %q of tenant %q is held by job %d: %w", key, tenant, holder, fairlead.ErrConflict)
}

// NoSuchTenant returns the ErrNotFound for a tenant that is not declared.
func NoSuchTenant(name string) error { return fmt.Errorf("tenant %q: %w", name, fairlead.ErrNotFound) }
