package mysql

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// Migrated is a database with the tables of a store.
var Migrated = testdb.Template{Fill: func(ctx context.Context, url string) error {
	store, err := OpenWith(ctx, url, Options{SchemaOnly: true})
	if err != nil {
		return err
	}
	_, err = store.Migrate(ctx)
	return errors.Join(err, store.Close())
}}

// DropIDs gives up reserved ids.
func (s *Store) DropIDs() { s.ids.Drop() }

// LockReadyAndStandStill does what a claim does up to its first locks, and
// then nothing more: what a stopped process looks like to the server.
func (s *Store) LockReadyAndStandStill(ctx context.Context, scope *driver.Scope) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	claim := driver.Claim{Max: 1, Scope: scope}
	c := &claimer{txn: &txn{Store: s, tx: tx}, Claim: claim, config: &limitConfig{LimitConfig: sqlstore.NewLimitConfig(0, nil, nil, nil)}, rooms: newRooms(claim)}
	return c.take(ctx)
}

// ForgetBounds makes the next enqueue read how many jobs tenants may have pending.
func (s *Store) ForgetBounds() { s.pending.Forget() }
