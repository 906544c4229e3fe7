package driver

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// IllegalMove returns an ErrConflict for an action that the job's state does not allow. All
// stores use it, so the error message is the same everywhere.
func IllegalMove(action string, id int64, state fairlead.State) error {
	return fmt.Errorf("cannot %s job %d: it is %s: %w", action, id, state, fairlead.ErrConflict)
}

// NoSuchJob returns an ErrNotFound for a job ID.
func NoSuchJob(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrNotFound) }

// LeaseLost returns an ErrLeaseLost for a job whose lease has ended.
func LeaseLost(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrLeaseLost) }

// NodeLost returns an ErrLeaseLost for a dead or unknown node.
func NodeLost(node fairlead.NodeID) error {
	return fmt.Errorf("node %d: %w", node, fairlead.ErrLeaseLost)
}

// KeyTaken returns an ErrConflict for a key that the job holder already holds.
func KeyTaken(tenant, key string, holder int64) error {
	return fmt.Errorf("key %q of tenant %q is held by job %d: %w", key, tenant, holder, fairlead.ErrConflict)
}

// NoSuchTenant returns an ErrNotFound for a tenant that has not been declared.
func NoSuchTenant(name string) error { return fmt.Errorf("tenant %q: %w", name, fairlead.ErrNotFound) }
