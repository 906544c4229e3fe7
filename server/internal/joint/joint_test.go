package joint_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/server/internal/joint"
)

func TestHoweverManyAskTheRunsAreFewAndApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		call := joint.Call[int64]{
			Ask: func(context.Context) (int64, error) {
				run := runs.Add(1)
				time.Sleep(10 * time.Millisecond)
				return run, nil
			},
			Patience: time.Second, Pause: 200 * time.Millisecond, LongestPause: time.Second,
		}
		began := time.Now()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				asked := runs.Load()
				answer, err := call.Do(t.Context())
				if err != nil || answer <= asked {
					t.Errorf("the answer is %d (%v), and %d runs had begun before the question", answer, err, asked)
				}
			})
		}
		all.Wait()
		if most := int64(time.Since(began)/(210*time.Millisecond)) + 1; runs.Load() > most {
			t.Errorf("there were %d runs in %v, want %d at most", runs.Load(), time.Since(began), most)
		}
	})
}

func TestAnAnswerIsNeverOlderThanItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored atomic.Int64
		call := joint.Call[int64]{
			Ask: func(context.Context) (int64, error) {
				seen := stored.Load()
				time.Sleep(50 * time.Millisecond)
				return seen, nil
			},
			Patience: time.Second, Pause: time.Millisecond, LongestPause: time.Second,
		}
		var first sync.WaitGroup
		first.Go(func() { _, _ = call.Do(t.Context()) })
		time.Sleep(10 * time.Millisecond) // the run is under way and has read what is stored
		stored.Store(7)
		if answer, err := call.Do(t.Context()); answer != 7 || err != nil {
			t.Errorf("the answer is %d (%v), want 7", answer, err)
		}
		first.Wait()
	})
}

func TestACallerThatGoesDoesNotTakeTheAnswerOfOthersAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := joint.Call[int]{
			Ask: func(ctx context.Context) (int, error) {
				select {
				case <-time.After(100 * time.Millisecond):
					return 1, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			},
			Patience: time.Second, Pause: 500 * time.Millisecond, LongestPause: time.Second,
		}
		if _, err := call.Do(t.Context()); err != nil { // the next run has to wait
			t.Fatal(err)
		}
		leading, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = call.Do(leading) })
		synctest.Wait()
		leave()
		if answer, err := call.Do(t.Context()); answer != 1 || err != nil {
			t.Errorf("the answer is %d (%v)", answer, err)
		}
		all.Wait()
	})
}

func TestARunIsBoundedInTimeAndItsErrorIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := joint.Call[int]{
			Ask:      func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() },
			Patience: time.Second, Pause: time.Millisecond, LongestPause: time.Second,
		}
		if _, err := call.Do(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it failed with %v", err)
		}
	})
}
