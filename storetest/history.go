package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
)

// told formats a history as lines: the run, the number of looks since a time and the
// causes.
func (f *fixture) told(job *fairlead.Job, since time.Time) (lines []string) {
	f.Helper()
	history, err := f.store.History(f.ctx(), job.ID)
	f.ok(err)
	f.equal("the job", history.ID, job.ID)
	looks := func(at time.Time) float64 { return at.Sub(since).Seconds() / between.Seconds() }
	for _, s := range history.Stretches {
		until := "now"
		if !s.Until.IsZero() {
			until = fmt.Sprint(looks(s.Until))
		}
		line := fmt.Sprintf("run %d, %v to %s:", s.Run, looks(s.From), until)
		for _, o := range s.Causes {
			line += " " + string(o.Code)
			if o.Text == "" {
				f.Errorf("cause %q says nothing to people", o.Code)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func testHistory(c *chapter) {
	c.testSeeds("what Explain says of a waiting job is what its history says later", testHistoryRepeatsExplain)
	c.test("a job that nobody knows has no history", func(f *fixture) {
		_, err := f.store.History(f.ctx(), unknown)
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("a job says what it waited for, one after the other, until it started", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		first := f.claimThe(f.enqueue(with(behind("k"))), node)
		f.claimThe(f.enqueue(plain()), node)
		f.watch(w, 1, 3, node)
		begin := f.now()
		job := f.enqueue(with(behind("k")))
		f.watch(w, 5, 3, node)

		f.pause(queuePause(fairlead.DefaultQueue))
		f.settle(to(fairlead.Succeed, first))
		f.watch(w, 5, 3, node)

		f.cap(fairlead.LimitKind, kind, 1)
		f.resume(queuePause(fairlead.DefaultQueue))
		f.watch(w, 5, 3, node)

		f.limit(fairlead.Limit{Scope: fairlead.LimitKind, Name: kind})
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.001, Burst: 1})
		f.enqueue(with(priority(2)))
		f.claimOne(node)
		f.watch(w, 5, 3, node)

		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal})
		f.ok(f.store.Leave(f.ctx(), node))
		f.watch(w, 5, 3)

		node = f.join()
		f.watch(w, 5, 0, node)
		f.watch(w, 5, 3, node)
		f.claimThe(job, node)
		f.watch(w, 5, 3, node)
		f.equal("its history", f.told(job, begin), []string{
			"run 1, 0 to 5: at_gate",
			"run 1, 5 to 10: paused",
			"run 1, 10 to 15: at_cap",
			"run 1, 15 to 20: over_rate",
			"run 1, 20 to 25: no_node",
			"run 1, 25 to 30: no_slot",
			"run 1, 30 to 35: in_line",
		})
	})
	c.test("causes at the same time are shown together", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		f.pause(queuePause(fairlead.DefaultQueue))
		f.watch(w, 3, 3, node)
		f.watch(w, 3, 0, node)
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to 3: paused", "run 1, 3 to now: paused no_slot"})
	})
	c.test("what is gone for a moment is one hold", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		for range 4 {
			f.watch(w, 2, 0, node)
			f.watch(w, 2, 3, node)
		}
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to now: no_slot"})
		f.equal("how many holds there are", len(f.holds(hold.Filter{})), 1)
	})
	c.test("another node goes on where a witness died", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.pause(queuePause(fairlead.DefaultQueue))
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		f.watch(w, 3, 3, node)
		next := f.elsewhere()
		heir := next.witness()
		next.watch(heir, 8, 3, node)
		f.resume(queuePause(fairlead.DefaultQueue))
		next.watch(heir, 5, 3, node)
		f.ok(w.Look(f.ctx())) // the former witness is live, but no longer the witness
		f.claimThe(job, node)
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to 11: paused", "run 1, 11 to 16: in_line"})
		f.equal("how many holds there are", len(f.holds(hold.Filter{})), 1)
	})
	c.test("while no node is alive that is what jobs wait for, and what was not seen is not claimed to be known", func(f *fixture) {
		w, node := f.witness(), f.joinFor(30*between)
		f.watch(w, 1, 3)
		begin, job := f.now(), f.enqueue(plain())
		f.watch(w, 2, 3)
		f.Advance(600 * between)
		want := []string{"run 1, 0 to 2: no_slot", "run 1, 2 to 29: unrecorded", "run 1, 29 to %v: no_node"}
		f.equal("its history before the next look", f.told(job, begin), []string{want[0], want[1], fmt.Sprintf(want[2], "now")})
		f.reap()
		if _, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease}); err == nil {
			f.Fatal("a dead node beats")
		}
		heir := f.joinIdle()
		f.watch(f.witness(), 1, 3, heir)
		f.claimThe(job, heir)
		f.equal("its history", f.told(job, begin), []string{want[0], want[1], fmt.Sprintf(want[2], "602"), "run 1, 602 to 603: unrecorded"})
	})
	c.test("what was before the first look is not known", func(f *fixture) {
		node := f.joinIdle()
		begin, job := f.now(), f.enqueue(plain())
		f.equal("its history without a look", f.told(job, begin.Add(-between)), []string(nil))
		f.Advance(9 * between)
		f.equal("its history without a look", f.told(job, begin), []string{"run 1, 0 to now: unrecorded"})
		f.watch(f.witness(), 1, 3, node)
		f.Advance(between)
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to 10: unrecorded", "run 1, 10 to now: in_line"})
	})
	c.test("a retried job waits again", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		f.watch(w, 1, 3, node)
		claimed := f.claimThe(job, node)
		f.watch(w, 2, 3, node)
		f.settle(again(claimed, between))
		f.watch(w, 2, 3, node)
		f.promote()
		f.pause(kindPause(kind))
		f.watch(w, 2, 3, node)
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to 1: in_line", "run 2, 3 to 5: not_due", "run 2, 5 to now: paused"})
	})
	c.test("a job that ended and is run again did not back off in between", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		f.settle(again(f.claimThe(job, node), between))
		f.watch(w, 2, 3, node)
		f.promote()
		f.settle(failure(f.claimThe(job, node), "broken"))
		f.watch(w, 3, 3, node)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.watch(w, 2, 3, node)
		f.settle(again(f.claimThe(job, node), between))
		f.watch(w, 2, 3, node)
		f.promote()
		f.claimThe(job, node)
		f.equal("its history", f.told(job, begin), []string{"run 2, 0 to 2: not_due", "run 3, 2 to 7: unrecorded", "run 4, 7 to 9: not_due"})
	})
	c.test("a job that is not due waits for nothing", func(f *fixture) {
		f.watch(f.witness(), 1, 0)
		f.equal("its history", f.told(f.enqueue(with(notBefore(f.now().Add(time.Hour)))), f.now()), []string(nil))
	})
	c.test("a job that was cancelled waited until then", func(f *fixture) {
		w, node := f.witness(), f.joinIdle()
		f.watch(w, 1, 3, node)
		begin, job := f.now(), f.enqueue(plain())
		f.watch(w, 1, 3, node)
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "no need"))
		f.watch(w, 1, 3, node)
		f.equal("its history", f.told(job, begin), []string{"run 1, 0 to 1: in_line"})
	})
}
