package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Source 002, data model: the list of users is part of the task, beside a URL.
func TestAWorkerGoesOverAListThatIsStoredWithItsSweep(t *testing.T) {
	store := sqlitetest.Open(t)
	w := newWorldOn(t, store)
	var mu sync.Mutex
	texts := map[int64]string{}
	w.start(sweepMux(func(_ context.Context, item items.Item[greeting]) error {
		mu.Lock()
		defer mu.Unlock()
		texts[item.Index] = string(item.Text)
		return nil
	}), nil)
	people := make([]string, 2500)
	for i := range people {
		people[i] = fmt.Sprint("person ", i)
	}
	s := w.sweep(sweep.Sweep{Items: people, Shards: 2})
	w.untilSweep(s.ID, sweep.Finished)
	mu.Lock()
	defer mu.Unlock()
	for i, person := range people {
		if texts[int64(i)] != person {
			t.Fatalf("item %d is %q", i, texts[int64(i)])
		}
	}
}
