package sweep

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/ensure"
)

// Ensured is the result of Client.Ensure.
type Ensured struct {
	Sweep                         // the sweep as it is stored now
	Created bool                  // no sweep of this name existed before
	Changed []fairlead.Difference // fields that were set back to their declared values
}

// Ensure creates a sweep, or brings the existing sweep with the same name to the declared
// state. It does not start the sweep. Programs call Ensure on startup, and several programs
// may do so at the same time.
//
// Ensure manages the fields that are set, and the item source as a whole. A field that is
// zero keeps its stored value. If a managed field has a different value, Ensure resets it
// and reports it in Changed. The audit log records creations and changes with the actor
// "ensure".
//
// Ensure never removes anything. It returns ErrInvalid if the sweep is invalid, and
// ErrConflict if the sweep has been started and its items would change.
func (c *Client) Ensure(ctx context.Context, declared Sweep) (Ensured, error) {
	ensured, err := ensure.Retry(func() (Ensured, error) { return ensureIn(ctx, c.store, declared) }, fairlead.ErrConflict, fairlead.ErrNotFound)
	if err == nil && len(ensured.Changed) > 0 && ensured.State == Running {
		_ = Steer(ctx, c.store, ensured.ID) // else a node does so soon
	}
	return ensured, err
}

// Within returns a client that works inside the caller's transaction tx, which the store's
// Tx method returns.
func (c *Client) Within(tx CallerTx) *TxClient { return &TxClient{tx} }

// TxClient ensures sweeps inside the caller's transaction. The changes take effect when the
// caller commits.
type TxClient struct {
	tx CallerTx
}

// Ensure ensures a sweep inside the transaction, like Client.Ensure. It also returns
// ErrConflict if another transaction changes the sweep at the same time. The caller then
// rolls back and retries.
func (c *TxClient) Ensure(ctx context.Context, declared Sweep) (Ensured, error) {
	return ensureIn(ctx, c.tx, declared)
}

func ensureIn(ctx context.Context, tx CallerTx, declared Sweep) (Ensured, error) {
	fresh := declared
	if err := Normalize(&fresh); err != nil {
		return Ensured{}, err
	}
	record := func(changed []fairlead.Difference) error {
		return access.RecordEnsured(ctx, tx, "EnsureSweep", "sweep:"+declared.Name, fresh.Tenant, changed)
	}
	found, err := tx.Sweeps(ctx, Filter{Names: []string{declared.Name}})
	if err != nil {
		return Ensured{}, err
	}
	if len(found) == 0 {
		fresh.ID, fresh.Version, fresh.Status = 0, 0, Status{State: Created}
		created, err := tx.PutSweep(ctx, fresh)
		if err == nil {
			err = record(nil)
		}
		return Ensured{Sweep: created, Created: true}, err
	}
	stored, merged := found[0].Sweep, found[0].Sweep
	owned := ensure.Owned(declared, "ID", "Version", "CreatedAt", "Status", "Source", "Items")
	ensure.Copy(&merged, &declared, owned)
	if fresh.Source != (ItemSource{}) {
		merged.Source, merged.Items = fresh.Source, fresh.Items
		owned = append(owned, "Source")
	}
	if len(fresh.Items) > 0 && declared.To == 0 {
		merged.To = 0 // it ends with the list
	}
	if err := Normalize(&merged); err != nil {
		return Ensured{}, err
	}
	changed := ensure.Differences[fairlead.Difference](&stored, &merged, owned)
	if len(changed) == 0 {
		return Ensured{Sweep: stored}, nil
	}
	now, err := tx.PutSweep(ctx, merged)
	if err != nil {
		return Ensured{}, fmt.Errorf("ensure sweep %q: %w", declared.Name, err)
	}
	return Ensured{Sweep: now, Changed: changed}, record(changed)
}
