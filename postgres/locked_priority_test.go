package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A job lies in its place under its priority and is found there by it. So whatever moves
// a job has to see a priority that is set at the same moment, or the job is lost.

// wantWhole expects a ready job that is found by its priority, and claimed.
func (l *limitTest) wantWhole(job *fairlead.Job, priority int) {
	l.Helper()
	found, err := l.store.Get(l.Context(), job.ID)
	l.ok(err)
	if found.State != fairlead.Ready || found.Priority != priority {
		l.Fatalf("the job is %q with priority %d, want it to be ready with %d", found.State, found.Priority, priority)
	}
	id, err := l.store.Join(l.Context(), fairlead.Node{}, time.Hour)
	l.ok(err)
	jobs, err := l.store.Claim(l.Context(), driver.Claim{Node: id, Scope: l.scope, Max: 1})
	l.ok(err)
	if len(jobs) != 1 || jobs[0].Priority != priority {
		l.Fatalf("claimed %v", jobs)
	}
}

func TestARunThatIsReleasedHasThePriorityThatWasSetJustBefore(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("")
	job := l.claim(1)[0]
	stalling := l.begin("select from fairlead_job for share")
	set := l.begun(1, func() error { return l.store.SetPriority(t.Context(), job.ID, 7) })
	released := l.begun(2, func() error {
		_, err := l.store.Settle(t.Context(), []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Again}})
		return err
	})
	l.ok(stalling.Rollback(t.Context()))
	l.ok(<-set)
	l.ok(<-released)
	l.wantWhole(job, 7)
}

func TestAJobThatIsAnsweredHasThePriorityThatWasSetJustBefore(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("")
	job := l.claim(1)[0]
	l.settle(job, fairlead.MoveAwait)
	stalling := l.begin("select from fairlead_job for share")
	set := l.begun(1, func() error { return l.store.SetPriority(t.Context(), job.ID, 7) })
	answered := l.begun(2, func() error {
		return l.store.Resolve(t.Context(), fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Again})
	})
	l.ok(stalling.Rollback(t.Context()))
	l.ok(<-set)
	l.ok(<-answered)
	l.wantWhole(job, 7)
}

func TestThePriorityOfAJobThatIsJustAnsweredIsSetWhereItGoes(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("")
	job := l.claim(1)[0]
	l.settle(job, fairlead.MoveAwait)
	stalling := l.begin("insert into fairlead_attempt (id, run, fence, started_at, finished_at, node, reason, error) select id, attempt, 0, 0, 0, 0, '', '' from fairlead_waiting")
	answered := l.begun(1, func() error {
		return l.store.Resolve(t.Context(), fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Again})
	})
	set := l.begun(2, func() error { return l.store.SetPriority(t.Context(), job.ID, 7) })
	l.ok(stalling.Rollback(t.Context()))
	l.ok(<-answered)
	l.ok(<-set)
	l.wantWhole(job, 7)
}

// A statement that looks for jobs to move may find one by an older snapshot than the
// priority that was set since.
func TestAJobThatIsMovedHasThePriorityThatWasSetMeanwhile(t *testing.T) {
	for name, move := range map[string]struct {
		words string // of the statement that is stalled
		make  func(l *limitTest) *fairlead.Job
		call  func(l *limitTest) error
	}{
		"promoted": {"order by not_before", func(l *limitTest) *fairlead.Job {
			job := newJob(t, func(j *fairlead.Job) { j.NotBefore = time.Now().Add(time.Hour) })
			l.ok(l.store.Enqueue(l.Context(), []*fairlead.Job{job}))
			l.exec("update fairlead_later set not_before = 1")
			return job
		}, func(l *limitTest) error {
			_, err := l.store.Promote(l.Context(), 10)
			return err
		}},
		"reaped": {"poisoned", func(l *limitTest) *fairlead.Job {
			l.enqueue("")
			job := l.claim(1)[0]
			l.exec("update fairlead_running set crashes = 5")
			l.exec("update fairlead_node set dead = true, lease_until = 1")
			return job
		}, func(l *limitTest) error {
			_, err := l.store.Reap(l.Context(), driver.Reap{MaxCrashes: 5, Limit: 10, Patience: time.Minute})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimitTest(t)
			job := move.make(l)
			stalled := open(t, l.at, Options{Now: l.stall(move.words)})
			other := *l
			other.store = stalled
			stalling := l.begin("select pg_advisory_xact_lock(77)")
			moved := l.begun(1, func() error { return move.call(&other) })
			l.ok(l.store.SetPriority(t.Context(), job.ID, 7))
			l.exec("update fairlead_node set lived = true") // or the job would end as poison
			l.ok(stalling.Rollback(t.Context()))
			l.ok(<-moved)
			l.exec("update fairlead_ready set crashes = 0, solo = 0")
			l.wantWhole(job, 7)
		})
	}
}

// stall makes a clock that stops statements with some words in them, which have their
// snapshot by then, while another transaction has the advisory lock 77.
func (l *limitTest) stall(words string) string {
	l.Helper()
	l.exec(strings.ReplaceAll(`create function public.stalling_clock() returns bigint language plpgsql volatile as $$
		begin
			if position('WORDS' in current_query()) > 0 then
				perform pg_advisory_xact_lock_shared(77);
			end if;
			return extract(epoch from clock_timestamp()) * 1000000;
		end $$`, "WORDS", words))
	return "public.stalling_clock()"
}
