package postgres

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

func TestARefusedFunctionOfASharedFeatureLeavesNothingBehind(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	tx, err := connect(t, at).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, where := range map[string]sqlstore.Database{"its own": database{store}, "a caller's": callerDatabase{store.callerTx(pgxRunner{tx})}} {
		err := where.InTx(t.Context(), "test", func(ctx context.Context, db sqlstore.DB) error {
			if hit, err := db.Exec(ctx, store.sql.AddSecret, name, []byte("x")); err != nil || hit != 1 {
				t.Errorf("in %s transaction it hit %d rows: %v", name, hit, err)
			}
			return fairlead.ErrConflict
		})
		if err == nil {
			t.Errorf("in %s transaction it was not refused", name)
		}
	}
	if err := tx.Commit(t.Context()); err != nil { // it goes on after a refusal
		t.Fatal(err)
	}
	left := 0
	if err := connect(t, at).QueryRow(t.Context(), "select count(*) from fairlead_secret where value = 'x'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left (%v)", left, err)
	}
}
