package engine

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-io/fairlead"
)

func numbered(n int) []*run {
	runs := make([]*run, n)
	for i := range runs {
		runs[i] = &run{job: &fairlead.Job{ID: int64(i)}}
	}
	return runs
}

func TestCrewFillsAllSlotsWithSlowWorkAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		working := 0
		release := make(chan struct{})
		c := newCrew(5, func(*run) bool {
			mu.Lock()
			working++
			mu.Unlock()
			<-release
			return true
		})
		c.add(numbered(20))
		synctest.Wait()
		if working != 5 || c.queued() != 15 {
			t.Errorf("%d work and %d wait, want 5 and 15", working, c.queued())
		}
		close(release)
		c.close()
		c.all.Wait()
		if working != 20 {
			t.Errorf("%d of 20 were worked on", working)
		}
	})
}

func TestCrewStartsRunsInOrder(t *testing.T) {
	var order []int64
	c := newCrew(1, func(r *run) bool {
		order = append(order, r.job.ID)
		return true
	})
	for _, r := range numbered(1000) {
		c.add([]*run{r})
	}
	c.close()
	c.all.Wait()
	for i, id := range order {
		if id != int64(i) {
			t.Fatalf("run %d came as number %d", id, i)
		}
	}
	if len(order) != 1000 {
		t.Errorf("%d of 1000 were worked on", len(order))
	}
}

func TestCrewGivesTheSlotOfALostWorkerToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, release, hold := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var ran []int64
		close(hold)
		c := newCrew(1, func(r *run) bool {
			if r.job.ID == 0 {
				close(stuck)
				<-release
				return false
			}
			ran = append(ran, r.job.ID)
			<-hold
			return true
		})
		c.add(numbered(3))
		<-stuck
		synctest.Wait()
		if len(ran) != 0 {
			t.Fatal("the only slot was used twice")
		}
		c.giveSlotAway()
		synctest.Wait()
		if len(ran) != 2 {
			t.Errorf("%d of 2 ran after the slot was given away", len(ran))
		}
		close(release)
		synctest.Wait()
		hold = make(chan struct{})
		c.add(numbered(4)[1:])
		synctest.Wait()
		if len(ran) != 3 {
			t.Errorf("%d run at once in one slot after the lost worker has returned", len(ran)-2)
		}
		close(hold)
		c.close()
		c.all.Wait()
	})
}

func TestCrewIsNotHarmedByManyProducers(t *testing.T) {
	var mu sync.Mutex
	seen := map[*run]int{}
	c := newCrew(8, func(r *run) bool {
		mu.Lock()
		seen[r]++
		mu.Unlock()
		return true
	})
	var producers sync.WaitGroup
	for range 8 {
		producers.Go(func() {
			for _, r := range numbered(500) {
				c.add([]*run{r})
			}
		})
	}
	producers.Wait()
	c.close()
	c.all.Wait()
	if len(seen) != 4000 {
		t.Errorf("%d of 4000 runs were worked on", len(seen))
	}
	for _, times := range seen {
		if times != 1 {
			t.Fatalf("a run was worked on %d times", times)
		}
	}
}
