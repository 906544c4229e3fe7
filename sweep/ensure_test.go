package sweep_test

import (
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func catalog() sweep.Sweep {
	return sweep.Sweep{Name: "catalog", Kind: "thumbnail", To: 1000, InFlight: 64, Rate: 500}
}

func mustEnsure(t *testing.T, c *sweep.Client, s sweep.Sweep) sweep.Ensured {
	t.Helper()
	ensured, err := c.Ensure(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return ensured
}

func TestEnsureCreatesASweepOnceAndStartsItNot(t *testing.T) {
	c := sweep.NewClient(openStore(t))
	first := mustEnsure(t, c, catalog())
	if !first.Created || first.State != sweep.Created {
		t.Errorf("the first time: %+v", first)
	}
	if again := mustEnsure(t, c, catalog()); again.Created || len(again.Changed) != 0 || again.Version != first.Version {
		t.Errorf("the second time: %+v", again)
	}
}

func TestEnsureChangesBackWhatItOwnsOfASweepAndSaysSo(t *testing.T) {
	store := openStore(t)
	c := sweep.NewClient(store)
	s := mustEnsure(t, c, catalog()).Sweep
	s.Rate, s.Attempts = 5, 9
	if _, err := c.Put(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	back := mustEnsure(t, c, catalog())
	if len(back.Changed) != 1 || back.Changed[0].String() != "rate: 5 → 500" || back.Rate != 500 || back.Attempts != 9 {
		t.Errorf("it is %+v after the changes %v", back.Sweep, back.Changed)
	}
	if log, err := store.AuditLog(t.Context(), access.Filter{Action: "EnsureSweep"}); err != nil || len(log) != 2 {
		t.Errorf("the audit log has %+v, %v", log, err)
	}
}

func TestEnsureDoesNotChangeWhatAStartedSweepGoesOver(t *testing.T) {
	c := sweep.NewClient(openStore(t))
	s := mustEnsure(t, c, catalog())
	if _, err := c.Start(t.Context(), s.ID, "me"); err != nil {
		t.Fatal(err)
	}
	faster := catalog()
	faster.Rate = 1000
	if changed := mustEnsure(t, c, faster); len(changed.Changed) != 1 || changed.State != sweep.Running {
		t.Errorf("a rate: %+v", changed)
	}
	longer := catalog()
	longer.To = 2000
	if _, err := c.Ensure(t.Context(), longer); !errors.Is(err, fairlead.ErrConflict) {
		t.Errorf("more items: %v", err)
	}
}

func TestASweepIsEnsuredWithinATransaction(t *testing.T) {
	store := openStore(t)
	c := sweep.NewClient(store)
	tx, err := store.DB().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ensured, err := c.Within(store.Tx(tx)).Ensure(t.Context(), catalog()); err != nil || !ensured.Created {
		t.Fatalf("%+v, %v", ensured, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "catalog"); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("after the rollback: %v", err)
	}
}
