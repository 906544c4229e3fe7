package storetest

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// LateClaims covers jobs whose claim commits after the node was marked dead: such a job did
// not start, so the death is not a crash of the job. It is intended for stores whose claims
// do not lock their node. hold makes the claim of a job wait after it has checked its node
// and drawn its fence, until release is called.
func LateClaims(t *testing.T, h *Harness, hold func(t *testing.T, job int64) (release func())) {
	store := h.Open(t)
	test := func(name string, body func(l *lateClaim)) {
		t.Run(name, func(t *testing.T) {
			f := &fixture{TB: t, Harness: h, outer: t, store: store}
			f.ok(h.Empty(store))
			body(&lateClaim{fixture: f, hold: hold})
		})
	}
	const atOnce = 0 // maximum number of crashes of a job
	dead := func(l *lateClaim) {
		l.Advance(2 * lease)
		l.equal("what is reaped first", l.reap(), driver.Reaped{Nodes: 1})
	}
	left := func(l *lateClaim) { l.ok(l.store.Leave(l.ctx(), l.node)) }
	for name, die := range map[string]func(*lateClaim){"a node that was declared dead": dead, "a node that left": left} {
		test("a late claim of "+name+" is no crash", func(l *lateClaim) {
			job := l.begin()
			die(l)
			l.commit()
			l.equal("what is reaped", l.reap(), driver.Reaped{Jobs: 1})
			l.wantUnstarted(job)
			l.wantClaim(l.join(), everything(), job) // the job is no suspect, so it can be claimed together with others
		})
		test("a late claim of "+name+" brings no job closer to poison", func(l *lateClaim) {
			job := l.begin()
			die(l)
			l.commit()
			reaped, err := l.store.Reap(l.ctx(), driver.Reap{MaxCrashes: atOnce, Limit: 10, Patience: 10 * lease})
			l.ok(err)
			l.equal("what is reaped, without waiting for the process", reaped, driver.Reaped{Jobs: 1})
			l.wantUnstarted(job)
		})
	}
	test("a job that a crash would cancel goes on after a late claim", func(l *lateClaim) {
		job := l.begin(cancelOnCrash)
		dead(l)
		l.commit()
		l.equal("what is reaped", l.reap(), driver.Reaped{Jobs: 1})
		l.wantUnstarted(job)
	})
	test("a job that was asked to stop is cancelled after a late claim", func(l *lateClaim) {
		job := l.begin()
		dead(l)
		l.commit()
		l.ok(operations(l.store).Cancel(l.ctx(), job.ID, "not needed"))
		l.equal("what is reaped", l.reap(), driver.Reaped{Cancelled: 1})
		l.wantState(job, fairlead.Cancelled)
	})
	test("a process that says that it lived leaves a late claim as it was recorded", func(l *lateClaim) {
		job := l.begin()
		dead(l)
		l.commit()
		l.equal("what is reaped", l.reap(), driver.Reaped{Jobs: 1})
		l.ok(l.store.Lived(l.ctx(), l.node))
		l.wantUnstarted(job)
	})
}

// LateClaimUnderASmallerFence checks that a claim that committed in time counts as a crash,
// even if a late claim of the same node has a smaller fence. It is intended for stores in
// which the claims of a node do not wait for each other.
func LateClaimUnderASmallerFence(t *testing.T, h *Harness, hold func(t *testing.T, job int64) (release func())) {
	store := h.Open(t)
	l := &lateClaim{fixture: &fixture{TB: t, Harness: h, outer: t, store: store}, hold: hold}
	l.ok(h.Empty(store))
	job := l.begin()
	started := l.claimThe(l.enqueue(with()), l.node)
	l.Advance(2 * lease)
	l.equal("what is reaped first", l.reap(), driver.Reaped{Nodes: 1, Jobs: 1})
	if late := l.commit(); late.Fence >= started.Fence {
		l.Fatalf("the late claim has fence %d, and the other one %d: this shows nothing", late.Fence, started.Fence)
	}
	l.equal("what is reaped", l.reap(), driver.Reaped{Jobs: 1})
	l.wantUnstarted(job)
	l.wantSurvivor(started, 1, fairlead.ReasonCrash)
}

// lateClaim is a test with a claim in progress.
type lateClaim struct {
	*fixture
	hold    func(t *testing.T, job int64) (release func())
	node    fairlead.NodeID
	release func()
	claimed chan *fairlead.Job
	failed  chan error
}

// begin enqueues a job and returns when a node's claim of it is waiting.
func (l *lateClaim) begin(changes ...func(*fairlead.Job)) *fairlead.Job {
	l.Helper()
	job := l.enqueue(with(changes...))
	l.node, l.release = l.join(), l.hold(l.outer, job.ID)
	l.claimed, l.failed = make(chan *fairlead.Job, 1), make(chan error, 1)
	other, ctx := l.elsewhere().store, l.ctx()
	go func() {
		jobs, err := other.Claim(ctx, driver.Claim{Node: l.node, Scope: everything(), Max: 1})
		if err == nil && len(jobs) != 1 {
			err = fmt.Errorf("%d jobs were claimed", len(jobs))
		}
		if err != nil {
			l.failed <- err
			return
		}
		l.claimed <- jobs[0]
	}()
	l.eventually("the claim waits", func() bool {
		select {
		case err := <-l.failed:
			l.Fatalf("the claim did not wait: %v", err)
		case <-l.claimed:
			l.Fatalf("the claim did not wait")
		default:
		}
		return l.Waiting() > 0
	})
	return job
}

// commit lets the claim continue and returns its result.
func (l *lateClaim) commit() *fairlead.Job {
	l.Helper()
	l.release()
	select {
	case err := <-l.failed:
		l.ok(err)
	case job := <-l.claimed:
		return job
	}
	return nil
}

// wantUnstarted checks that a job is ready, with an attempt that did not start.
func (l *lateClaim) wantUnstarted(job *fairlead.Job) {
	l.Helper()
	l.wantState(job, fairlead.Ready)
	l.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
	l.equal("the text of its attempt", l.attempts(job)[0].Error, fmt.Sprintf("node %d was marked dead before its claim committed; the job did not start", l.node))
}
