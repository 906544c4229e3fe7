package upload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// Uploads of many callers never exceed the limits, and all of them get a place.
func TestParallelUploadsStayWithinTheirLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, uploadsEach = 6, 10
		queue := &Queue{}
		var mu sync.Mutex
		total, each, most := 0, map[string]int{}, 0
		change := func(caller string, by int) {
			mu.Lock()
			defer mu.Unlock()
			total, each[caller] = total+by, each[caller]+by
			most = max(most, total)
			if total > parallelUploads || each[caller] > callerUploads {
				t.Errorf("%d uploads are in progress, %d of them of one caller", total, each[caller])
			}
		}
		var all sync.WaitGroup
		for i := range callers * uploadsEach {
			all.Go(func() {
				caller := fmt.Sprint(i % callers)
				if err := queue.Enter(t.Context(), caller); err != nil {
					t.Error(err)
					return
				}
				change(caller, 1)
				time.Sleep(100 * time.Millisecond) // of the bubble
				change(caller, -1)
				queue.Leave(caller)
			})
		}
		all.Wait()
		if most != parallelUploads || queue.total != 0 || len(queue.callers) != 0 || len(queue.waiting) != 0 {
			t.Errorf("at most %d uploads were in progress; at the end, the queue is %+v", most, queue)
		}
	})
}

// A caller with many uploads leaves places to others.
func TestUploadsOfOneCallerDoNotTakeAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := &Queue{}
		var refused sync.WaitGroup
		for range callerUploads {
			if err := queue.Enter(t.Context(), "greedy"); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			refused.Go(func() {
				if err := queue.Enter(t.Context(), "greedy"); !errors.Is(err, errManyUploads) {
					t.Errorf("one upload too many: %v", err)
				}
			})
		}
		synctest.Wait()
		if !queue.Wanted("greedy") || queue.Wanted("modest") {
			t.Error("only an end of one of its own uploads helps a greedy caller")
		}
		began := time.Now()
		for range parallelUploads - callerUploads {
			if err := queue.Enter(t.Context(), "modest"); err != nil || time.Since(began) != 0 {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		}
		refused.Wait()
		if time.Since(began) != overload.Patience || len(queue.waiting) != 0 {
			t.Errorf("%d uploads wait after %s", len(queue.waiting), time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := queue.Enter(ctx, "third"); !errors.Is(err, errManyUploads) {
			t.Errorf("a caller that is gone: %v", err)
		}
	})
}
