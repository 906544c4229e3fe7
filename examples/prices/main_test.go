package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/sqlite"
)

func TestTheProgramChangesPricesAndPutsThemBack(t *testing.T) {
	file, out := filepath.Join(t.TempDir(), "prices.db"), &strings.Builder{}
	if err := run(t.Context(), file, 40, out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"success, 40 of 40 prices changed",
		"a rollback would put back 40 prices",
		"rollback_success, 40 prices are as they were",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the program did not print %q but\n%s", line, out)
		}
	}
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{store}
	if cents, err := shop.price(t.Context(), "7"); err != nil || cents != 1007 {
		t.Errorf("product 7 costs %d: %v", cents, err)
	}
}

func TestAFailedCanaryKeepsTheOtherPricesAsTheyAre(t *testing.T) {
	store, clock := fairleadtest.SQLite(t)
	shop, mux := &Shop{store}, fairlead.NewMux()
	batch.Handle(mux, shop.reprice())
	node := fairleadtest.NewOn(t, store, clock, mux)
	if _, err := store.DB().ExecContext(t.Context(), "create table products (id text primary key, cents int not null)"); err != nil {
		t.Fatal(err)
	}
	var changes []batch.Change
	for _, id := range strings.Fields("a b c d") {
		if _, err := store.DB().ExecContext(t.Context(), "insert into products values (?, 100)", id); err != nil {
			t.Fatal(err)
		}
		changes = append(changes, batch.Change{Target: batch.Target{Type: "product", ID: id}, After: json.RawMessage("80")})
	}
	changes[1].After = json.RawMessage("-80")
	b, err := node.Batches.Start(t.Context(), batch.Batch{Name: "sale", Type: "reprice", Canary: batch.Canary{Tasks: 2, Ratio: 1}}, changes...)
	if err != nil {
		t.Fatal(err)
	}
	node.Drain()
	if b, err = node.Batches.Get(t.Context(), b.ID); err != nil || !b.Paused || b.Tally.Pending != 2 {
		t.Errorf("behind a canary that failed the batch is %+v: %v", b.Status, err)
	}
	if _, err = node.Batches.RollBack(t.Context(), b.ID, batch.RollBack{}); err != nil {
		t.Fatal(err)
	}
	node.Drain()
	for _, id := range strings.Fields("a b c d") {
		if cents, err := shop.price(t.Context(), id); err != nil || cents != 100 {
			t.Errorf("after the rollback %s costs %d: %v", id, cents, err)
		}
	}
}
