package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// possible returns the states that a job can reach alone. Parked requires another job that
// has the slot, and skipped requires a schedule.
func possible() []fairlead.State {
	return []fairlead.State{
		fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting,
		fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled,
	}
}

// except returns the possible states without some.
func except(some ...fairlead.State) []fairlead.State {
	var rest []fairlead.State
	for _, state := range possible() {
		if !slices.Contains(some, state) {
			rest = append(rest, state)
		}
	}
	return rest
}

// in returns a job in the state. Jobs that must be claimed on the way are in a queue of
// their own, so that no other job is claimed instead.
func (f *fixture) in(state fairlead.State, changes ...func(*fairlead.Job)) *fairlead.Job {
	f.Helper()
	alone := append([]func(*fairlead.Job){inQueue("only " + string(state))}, changes...)
	switch state {
	case fairlead.Scheduled:
		return f.enqueue(with(append(changes, notBefore(f.now().Add(time.Hour)))...))
	case fairlead.Ready:
		return f.enqueue(with(changes...))
	case fairlead.Running:
		return f.running(alone...)
	case fairlead.Waiting:
		job := f.running(alone...)
		f.settle(wait(job))
		return job
	case fairlead.Succeeded:
		job := f.running(alone...)
		f.settle(to(fairlead.Succeed, job))
		return job
	case fairlead.Failed:
		job := f.running(alone...)
		failure := to(fairlead.Fail, job)
		failure.Reason, failure.Error = fairlead.ReasonFatal, "hopeless"
		f.settle(failure)
		return job
	case fairlead.Cancelled:
		job := f.enqueue(with(changes...))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "not needed"))
		return job
	}
	f.Fatalf("no way to make a job %s", state)
	return nil
}

// forbids checks that an operation returns ErrConflict in each of the states and changes
// nothing.
func (f *fixture) forbids(verb func(id int64) error, states ...fairlead.State) {
	f.Helper()
	for _, state := range states {
		job := f.in(state)
		before := f.get(job)
		f.wantIllegal(verb(job.ID), job, state)
		f.equal("the job after the conflict", f.get(job), before)
	}
}

// unknown is an ID that no job ever had.
const unknown = int64(1) << 60
