package items_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Source 002, data model: the list of users is part of the task, beside a URL.
func TestASweepGoesOverAListThatIsStoredWithIt(t *testing.T) {
	for _, shards := range []int{1, 3} {
		inBubble(t, func(w *world) {
			var mu sync.Mutex
			texts := map[int64]string{}
			defer w.node(func(_ context.Context, item items.Item[data]) error {
				mu.Lock()
				defer mu.Unlock()
				texts[item.Index] = string(item.Text)
				return nil
			})()
			people := make([]string, 2500)
			for i := range people {
				people[i] = fmt.Sprint("person ", i)
			}
			s := w.start(sweep.Sweep{Items: people, Shards: shards})
			if s.Total != 2500 {
				t.Errorf("before it began it has %d items", s.Total)
			}
			s = w.until(s.ID, sweep.Finished)
			w.each(0, 2500, 1)
			for i, person := range people {
				if texts[int64(i)] != person {
					t.Fatalf("item %d is %q", i, texts[int64(i)])
				}
			}
			if s.Done != 2500 || s.Items != nil {
				t.Errorf("it ended with %+v", s.Progress)
			}
		})
	}
}

func TestWhatIsMarkedNeverPassesAnItemThatWaitsForItsNextAttempt(t *testing.T) {
	inBubble(t, func(w *world) {
		defer w.node(func(_ context.Context, item items.Item[data]) error {
			if item.Index == 10 && item.Attempt < 5 {
				return errors.New("not yet")
			}
			return nil
		})()
		s := w.start(sweep.Sweep{To: 1000, InFlight: 4, Rate: 100, Attempts: 5, Backoff: 3 * time.Second})
		for range 5 {
			time.Sleep(2 * time.Second)
			if got := w.get(s.ID); got.Marked > 10 || got.Done > 20 && got.InWindow < 1 {
				t.Errorf("while item 10 waits, it has come to %+v", got.Progress)
			}
		}
		s = w.until(s.ID, sweep.Finished)
		if s.Marked != 1000 || s.InWindow != 0 {
			t.Errorf("it ended with %+v", s.Progress)
		}
	})
}
