package driver

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// IllegalMove returns the ErrConflict of an action that the job's state forbids, with
// the same text in all stores.
func IllegalMove(action string, id int64, state fairlead.State) error {
	return fmt.Errorf("cannot %s job %d: it is %s: %w", action, id, state, fairlead.ErrConflict)
}

// NoSuchJob returns the ErrNotFound of a job's id.
func NoSuchJob(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrNotFound) }

// LeaseLost returns the ErrLeaseLost of a job whose lease is over.
func LeaseLost(id int64) error { return fmt.Errorf("job %d: %w", id, fairlead.ErrLeaseLost) }

// NodeLost returns the ErrLeaseLost of a node that is dead or unknown.
func NodeLost(node fairlead.NodeID) error {
	return fmt.Errorf("node %d: %w", node, fairlead.ErrLeaseLost)
}

// KeyTaken returns the ErrConflict of a key that another job holds.
func KeyTaken(tenant, key string, holder int64) error {
	return fmt.Errorf("key %q of tenant %q is held by job %d: %w", key, tenant, holder, fairlead.ErrConflict)
}

// NoSuchTenant returns the ErrNotFound of a tenant that is not declared.
func NoSuchTenant(name string) error { return fmt.Errorf("tenant %q: %w", name, fairlead.ErrNotFound) }
