package sqlite_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/sqlite"
)

// listen collects wakes until the test ends.
func listen(t testing.TB, s *sqlite.Store) <-chan driver.Wake {
	wakes := make(chan driver.Wake, 1000)
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() {
		err := s.Listen(ctx, &driver.Scope{Kinds: []string{"bench"}}, func(w driver.Wake) { wakes <- w })
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		listening.Wait()
	})
	return wakes
}

// await waits for a wake of this sort.
func await(t testing.TB, wakes <-chan driver.Wake, want driver.Wake) {
	t.Helper()
	for timeout := time.After(patience.Limit); ; {
		select {
		case wake := <-wakes:
			if wake == want {
				return
			}
		case <-timeout:
			t.Fatalf("no wake %v came", want)
		}
	}
}

func settleDown(wakes <-chan driver.Wake) {
	for {
		select {
		case <-wakes:
		case <-time.After(500 * time.Millisecond):
			return
		}
	}
}

// TestProcessesWakeEachOther also when the one that listens writes itself, and
// so might take the others' news for its own.
func TestProcessesWakeEachOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	here, there := open(t, file, sqlite.Options{}), open(t, file, sqlite.Options{})
	wakes := listen(t, here)
	node, err := there.Join(t.Context(), fairlead.Node{}, time.Hour)
	must(t, err)
	settleDown(wakes)
	for range 3 {
		start := time.Now()
		must(t, there.Enqueue(t.Context(), benchJobs(1)))
		must(t, here.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "other"}))
		await(t, wakes, driver.WakeWork)
		t.Logf("work was heard of after %v", time.Since(start))
	}
	jobs := benchJobs(1)
	jobs[0].NotBefore = time.Now().Add(time.Hour)
	must(t, there.Enqueue(t.Context(), jobs))
	await(t, wakes, driver.WakeLater)
	claimed, err := there.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"bench"}}, Max: 1})
	must(t, err)
	must(t, there.Cancel(t.Context(), claimed[0].ID, ""))
	await(t, wakes, driver.WakeCancel)
	settleDown(wakes)
	_, err = there.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour})
	must(t, err)
	select {
	case wake := <-wakes:
		t.Errorf("a beat of another process wakes with %v", wake)
	case <-time.After(50 * time.Millisecond):
	}
}

// Transactions of callers are seen even if the caller does not call Wake.
func TestTransactionsOfCallersAreSeen(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "jobs.db"), sqlite.Options{})
	wakes := listen(t, s)
	settleDown(wakes)
	tx := begin(t, s.DB(), s)
	must(t, tx.Tx.Enqueue(t.Context(), benchJobs(1)))
	must(t, tx.Commit())
	await(t, wakes, driver.WakeWork)
}

// TestInABubble is a day of a store, its clock and its watching of other
// processes, in virtual time.
func TestInABubble(t *testing.T) {
	for _, url := range []string{":memory:", filepath.Join(t.TempDir(), "jobs.db")} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, url, sqlite.Options{Poll: time.Second})
			wakes := listen(t, s)
			synctest.Wait() // it listens
			node, err := s.Join(t.Context(), fairlead.Node{}, time.Minute)
			must(t, err)
			jobs := benchJobs(1)
			jobs[0].NotBefore = time.Now().Add(24 * time.Hour)
			must(t, s.Enqueue(t.Context(), jobs))
			await(t, wakes, driver.WakeLater)

			promotion, err := s.Promote(t.Context(), 10)
			must(t, err)
			if promotion.Moved != 0 || promotion.Next > 24*time.Hour || promotion.Next < 23*time.Hour {
				t.Fatalf("the promotion is %+v", promotion)
			}
			time.Sleep(promotion.Next)
			promotion, err = s.Promote(t.Context(), 10)
			must(t, err)
			if promotion.Moved != 1 {
				t.Errorf("the promotion a day later is %+v", promotion)
			}
			await(t, wakes, driver.WakeWork)
			if _, err := s.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Minute}); err == nil {
				t.Error("the node lives after a day without beats")
			}
		})
	}
}
