package batch_test

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// explained asks how a batch stands and expects these reasons, in order.
func (m *moving) explained(id int64, want ...fairlead.ObstacleCode) fairlead.Situation {
	m.Helper()
	found, err := m.batches.Explain(m.outer.Context(), id)
	m.ok(err)
	var got []fairlead.ObstacleCode
	for _, o := range found.Reasons {
		got = append(got, o.Code)
	}
	m.equal("the reasons", got, want)
	return found
}

func TestABatchSaysWhatKeepsItFromGoingOn(t *testing.T) {
	m := newMoving(t)
	b := m.create(10, func(b *batch.Batch) { b.MaxRunning, b.Canary.Tasks = 3, 4 })
	m.look(b.ID)
	capped := m.explained(b.ID, fairlead.AtCap)
	m.equal("the cap", []int{capped.Reasons[0].Used, capped.Reasons[0].Cap}, []int{3, 3})
	m.equal("its jobs", len(capped.Jobs), 3)
	m.equal("the first of them", capped.Jobs[0].State, fairlead.Ready)

	m.succeed(m.start(3)...)
	m.look(b.ID)
	m.explained(b.ID, fairlead.AtApproval) // the last of the canary is released
	m.succeed(m.start(1)...)
	m.look(b.ID)
	m.equal("what it says", m.explained(b.ID, fairlead.AtApproval).Reasons[0].Text, "the first 4 tasks have ended; the other 6 are waiting for approval")

	m.acted(m.batches.Approve(t.Context(), b.ID))
	m.look(b.ID)
	running := m.start(1)
	some := m.explained(b.ID, fairlead.AtCap)
	m.equal("jobs that do not run go first", []fairlead.State{some.Jobs[0].State, some.Jobs[2].State}, []fairlead.State{fairlead.Ready, fairlead.Running})
	m.acted(m.batches.Pause(t.Context(), b.ID, "lunch"))
	m.equal("what it says", m.explained(b.ID, fairlead.IsPaused).Reasons[0].Text, "it is paused (lunch)")
	m.acted(m.batches.Cancel(t.Context(), b.ID, "enough"))
	m.explained(b.ID, fairlead.IsPaused, fairlead.IsStopped)
	m.succeed(running...)
	m.look(b.ID)
	m.explained(b.ID, fairlead.HasEnded)
}

func TestABatchThatKeepsToItsRateSaysSo(t *testing.T) {
	m := newMoving(t)
	b := m.create(10, func(b *batch.Batch) { b.Rate = 1 })
	m.look(b.ID)
	why := m.explained(b.ID, fairlead.OverRate)
	if until := why.Reasons[0].Until; !until.After(why.At) {
		t.Errorf("the next task is released at %v, and it is %v", until, why.At)
	}
}
