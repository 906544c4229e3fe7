package workers

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A worker is requested to stop a job after its timeout or cancellation. After a grace
// period, the job is ended without the worker.
func TestAWorkerHasAGraceToStopAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, grace = 10 * time.Second, 3 * time.Second
		c := &crew{leases: map[driver.Held]*leased{}, freed: make(chan struct{})}
		started := time.Now()
		var jobs []*leased
		for id := range int64(2) {
			job := &fairlead.Job{ID: id + 1, Kind: "k", MaxAttempts: 1}
			job.StartedAt, job.Fence = started, 1
			jobs = append(jobs, &leased{job: job})
		}
		wished := driver.Held{ID: 2, Fence: 1}
		for _, step := range []struct {
			at        time.Duration
			isWished  bool
			stops     []string
			isOverdue []int64
			next      time.Duration
		}{
			{0, false, nil, nil, timeout},
			{timeout - 1, false, nil, nil, 1},
			{timeout - 1, true, []string{stopCancelled}, nil, 1},
			{timeout, true, []string{stopTimeout, stopCancelled}, nil, grace - 1},
			{timeout + grace - 2, true, []string{stopTimeout, stopCancelled}, nil, 1},
			{timeout + grace - 1, true, []string{stopTimeout}, []int64{2}, 1},
			{timeout + grace, true, nil, []int64{1, 2}, forever},
		} {
			time.Sleep(time.Until(started.Add(step.at)))
			i := inspection{answer: driver.BeatAnswer{Now: time.Now()}, grace: grace, timeout: timeout, node: &fairlead.Node{}, next: forever}
			if step.isWished {
				i.answer.Cancel = []driver.Held{wished}
			}
			i.look(c, jobs)
			var stops []string
			for _, stop := range i.stops {
				stops = append(stops, stop.GetReason())
			}
			var overdue []int64
			for _, settlement := range i.overdue {
				overdue = append(overdue, settlement.ID)
			}
			if !slices.Equal(stops, step.stops) || !slices.Equal(overdue, step.isOverdue) || i.next != step.next {
				t.Errorf("after %v: %v are to stop, %v are ended, and the next look is after %v", step.at, stops, overdue, i.next)
			}
		}
	})
}

// The worker of a job that is long over its time may have ended it, or not know that it was
// leased, and could tell no server.
func TestAServerThatHasJustStartedAsksAWorkerBeforeItEndsItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, grace = 10 * time.Second, 3 * time.Second
		c := &crew{leases: map[driver.Held]*leased{}, freed: make(chan struct{})}
		job := &fairlead.Job{ID: 1, Kind: "k", MaxAttempts: 1}
		job.StartedAt, job.Fence = time.Now().Add(-time.Hour), 1
		late := []*leased{{job: job}}
		for _, overdue := range []int{0, 1} {
			i := inspection{answer: driver.BeatAnswer{Now: time.Now()}, grace: grace, timeout: timeout, node: &fairlead.Node{}, next: forever}
			i.look(c, late)
			if len(i.overdue) != overdue || len(i.stops) != 1-overdue {
				t.Errorf("%d jobs are ended and %d are to stop; want %d ended", len(i.overdue), len(i.stops), overdue)
			}
			time.Sleep(grace)
		}
	})
}
