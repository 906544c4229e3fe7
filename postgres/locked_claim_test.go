package postgres

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A claim that is alone in its lane deletes jobs without locking them first. One that is
// not locks all of them before it deletes any, so that others pass over them and do not
// choose what they would have to wait for.
func TestAClaimThatIsNotAloneInItsLaneLocksItsJobsFirst(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("", "")
	l.exec(`create function public.stall() returns trigger language plpgsql as $$
		begin
			perform set_config('lock_timeout', '0', true);
			perform pg_advisory_xact_lock_shared(77);
			return old;
		end $$`)
	l.exec("create trigger stall before delete on fairlead_ready for each row execute function public.stall()")
	other := l.begin(fmt.Sprintf("select pg_advisory_xact_lock(%d, lane) from fairlead_ready limit 1", l.store.laneLock))
	stalling := l.begin("select pg_advisory_xact_lock(77)")
	var jobs []*fairlead.Job
	claimed := l.begun(1, func() (err error) { // it is about to delete the first of them
		jobs, err = l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 2})
		return err
	})
	free := 0
	l.ok(connect(t, l.at).QueryRow(t.Context(), "select count(*) from (select from fairlead_ready for update skip locked) f").Scan(&free))
	l.ok(stalling.Rollback(t.Context()))
	l.ok(other.Rollback(t.Context()))
	l.ok(<-claimed)
	if free != 0 || len(jobs) != 2 {
		t.Errorf("%d jobs were not locked, %d were claimed", free, len(jobs))
	}
}

func TestAClaimOfSeveralLanesPassesOverJobsThatAreLocked(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("a", "b", "a", "b")
	locking := l.begin("select from fairlead_ready where id = (select min(id) from fairlead_job) for update")
	var jobs []*fairlead.Job
	l.returns(func() (err error) {
		jobs, err = l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 2})
		return err
	})
	if len(jobs) == 0 {
		t.Error("nothing was claimed beside the job that is locked")
	}
	l.ok(locking.Rollback(t.Context()))
	if more := l.claim(4); len(jobs)+len(more) != 4 {
		t.Errorf("%d jobs were claimed and then %d", len(jobs), len(more))
	}
}
