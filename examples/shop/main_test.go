package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/fairleadtest"
)

func TestAnOrderIsShippedOnceThoughTheFirstAttemptFails(t *testing.T) {
	shop, results := &Shop{}, []error{errors.New("the van is full"), nil}
	shop.send = func(context.Context, Order) (err error) {
		err, results = results[0], results[1:]
		return err
	}
	node := fairleadtest.New(t, shop.mux())
	shop.store = node.Store
	err := errors.Join(shop.declare(t.Context()), shop.place(t.Context(), Order{"7", "acme"}))
	if again := shop.place(t.Context(), Order{"7", "acme"}); err != nil || !errors.Is(again, fairlead.ErrConflict) {
		t.Errorf("the order: %v; the same once more: %v", err, again)
	}
	for node.Work().State != fairlead.Succeeded {
		node.Advance(time.Minute)
	}
}

func TestPricesAreRolledBack(t *testing.T) {
	shop := &Shop{}
	node := fairleadtest.New(t, shop.mux())
	batches, change := batch.NewClient(node.Store), batch.Change{Target: batch.Target{ID: "kite", Type: "product"}, After: []byte("80")}
	b, err := batches.Start(t.Context(), batch.Batch{Name: "sale", Type: "reprice"}, change)
	node.Drain()
	reduced, _ := shop.prices.Load("kite")
	_, undo := batches.RollBack(t.Context(), b.ID, batch.RollBack{})
	node.Drain()
	if back, _ := shop.prices.Load("kite"); reduced != "80" || back != "100" {
		t.Errorf("the price was %v, then %v: %v", reduced, back, errors.Join(err, undo))
	}
}
