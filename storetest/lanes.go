package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A LaneLook returns the state of the only lane of a kind, if any.
type LaneLook func(kind string) (exists, givenUp bool)

// UnusedLanes covers empty lanes. Only a store's own test can inspect its lanes, so
// UnusedLanes is not part of Run.
func UnusedLanes(t *testing.T, h *Harness, look LaneLook) {
	const month = 31 * 24 * time.Hour
	f := &fixture{TB: t, Harness: h, outer: t, store: h.Open(t)}
	enqueue := func(kind string, edits ...func(*fairlead.Job)) *fairlead.Job {
		job := &fairlead.Job{Kind: kind}
		for _, edit := range edits {
			edit(job)
		}
		return f.enqueue(job)
	}
	later := func(j *fairlead.Job) { j.NotBefore = f.now().Add(1000 * 24 * time.Hour) }
	want := func(what, kind string, exists, givenUp bool) {
		t.Helper()
		if e, g := look(kind); e != exists || g != givenUp {
			t.Errorf("%s the lane of %q exists: %v, is given up: %v; want %v, %v", what, kind, e, g, exists, givenUp)
		}
	}
	empty := func(kind string) { f.ok(operations(f.store).Delete(f.ctx(), enqueue(kind).ID)) }
	pass := func(d time.Duration) {
		f.Advance(d)
		f.prune(100)
	}

	waits, ended := enqueue("waits", later), enqueue("ended")
	f.ok(operations(f.store).Cancel(f.ctx(), ended.ID, ""))
	empty("unused")
	empty("used again")
	empty("last")
	f.prune(100)
	pass(month - 2*24*time.Hour)
	want("within a month", "unused", true, false)
	pass(2 * 24 * time.Hour)
	for kind, givenUp := range map[string]bool{"unused": true, "used again": true, "waits": false, "ended": false} {
		want("after a month", kind, true, givenUp)
	}
	again := enqueue("used again", later)
	pass(23 * time.Hour)
	want("within a day", "unused", true, true)
	pass(2 * time.Hour)
	Eventually(t, "the lane is gone", func() bool { // other processes may have older transactions
		exists, _ := look("unused")
		if exists {
			pass(25 * time.Hour)
		}
		return !exists
	})
	for kind, exists := range map[string]bool{"unused": false, "used again": true, "waits": true, "ended": true} {
		want("a day after it was given up", kind, exists, false)
	}
	for _, job := range []*fairlead.Job{waits, ended, again} {
		f.equal("the kind of a job that is kept", f.get(job).Kind, job.Kind)
	}
	anew := enqueue("unused")
	claimed := f.claimKind(f.join(), "unused")
	f.equal("the job of the lane that was made anew", claimed, []int64{anew.ID})
}

// Eventually repeats a check until it succeeds. It pauses in between, because MariaDB
// answers repeated queries about its transactions from a cache for a tenth of a second.
func Eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	again := time.NewTicker(time.Second / 4)
	defer again.Stop()
	for begun := time.Now(); !so(); <-again.C {
		if time.Since(begun) > patient {
			t.Fatalf("it never comes to pass that %s", what)
		}
	}
}

// claimKind claims jobs of a kind.
func (f *fixture) claimKind(node fairlead.NodeID, kind string) (ids []int64) {
	f.Helper()
	jobs, err := f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{kind}}, Max: 10})
	f.ok(err)
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}
