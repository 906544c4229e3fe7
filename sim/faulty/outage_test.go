package faulty_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// Trap 6: no node reaches the database for longer than a lease. The first one
// back must not declare the others dead at once.
func TestOutageLongerThanTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		work := func(ctx context.Context, j *fairlead.Job) error {
			if j.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		nodes := []*node{b.start("first", work), b.start("second", work)}
		b.pass(2 * lease) // both may reap
		jobs := b.enqueue(8)
		b.await("all run", 2*poll, func() bool { return nodes[0].runs(nil)+nodes[1].runs(nil) == len(jobs) })
		for _, n := range nodes {
			n.faults.Fail(faulty.Always, faulty.Calls()...)
		}
		b.pass(3 * lease)
		back := time.Now()
		for _, n := range nodes {
			n.faults.Mend()
		}
		for _, j := range b.finish(4*lease, jobs...) {
			if j.State != fairlead.Succeeded || j.Attempt != 2 || j.Crashes != 0 { // the nodes lived
				t.Errorf("job %d %s in attempt %d after %d crashes", j.ID, j.State, j.Attempt, j.Crashes)
			}
		}
		alive := []fairlead.NodeID{nodes[0].id(), nodes[1].id()}
		b.pass(3 * lease)
		for i, n := range nodes {
			if n.id() != alive[i] {
				t.Errorf("node %d had to start over as %d after the outage", alive[i], n.id())
			}
			for _, reap := range n.news.reaps {
				if reap.After(back) && reap.Sub(back) < lease {
					t.Errorf("node %d took from others %v after the outage", alive[i], reap.Sub(back))
				}
			}
		}
	})
}

// Handlers do not notice an outage that ends before the leases expire.
func TestOutageShorterThanTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		work := func(ctx context.Context, _ *fairlead.Job) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * lease):
				return nil
			}
		}
		nodes := []*node{b.start("first", work), b.start("second", work)}
		b.pass(2 * lease)
		jobs := b.enqueue(8)
		b.await("all run", 2*poll, func() bool { return nodes[0].runs(nil)+nodes[1].runs(nil) == len(jobs) })
		before := []fairlead.NodeID{nodes[0].id(), nodes[1].id()}
		for _, n := range nodes {
			n.faults.Fail(faulty.Always, faulty.Calls()...)
		}
		b.pass(lease / 2)
		for _, n := range nodes {
			n.faults.Mend()
		}
		b.succeed(3*lease, jobs...)
		for i, n := range nodes {
			if n.id() != before[i] || len(n.news.reaps) > 0 {
				t.Errorf("node %d is node %d and reaped at %v", before[i], n.id(), n.news.reaps)
			}
		}
	})
}

// A node whose claims fail lives on, and works when they succeed again.
func TestClaimsFail(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", succeedAtOnce)
		b.pass(lease)
		before := n.id()
		n.faults.Fail(faulty.Always, faulty.Claim)
		jobs := b.enqueue(20)
		b.pass(6 * lease)
		if n.runs(nil) > 0 || n.id() != before {
			t.Errorf("%d runs without a claim; node %d is node %d", n.runs(nil), before, n.id())
		}
		n.faults.Mend()
		const slowest = 10 * poll // of the loops' back-off
		b.succeed(slowest+2*poll, jobs...)
	})
}

// Without wakes a node finds its work by polling.
func TestListenerFails(t *testing.T) {
	inBubble(t, func(_ *testing.T, b *bubble) {
		n := b.prepare("n", succeedAtOnce)
		n.faults.Fail(faulty.Always, faulty.Listen)
		n.run()
		b.pass(lease)
		b.enqueue(1)
		b.await("it polls", poll+poll/10, func() bool { return n.runs(nil) == 1 })
		n.faults.Mend()
		listening := n.faults.Count(faulty.Listen)
		const slowest = 10 * poll // of the loops' back-off
		b.await("it listens again", slowest+poll, func() bool { return n.faults.Count(faulty.Listen) > listening })
		b.succeed(atOnce, b.enqueue(1)...)
	})
}

// A listener that is cut off from time to time is back soon each time: what
// failed long ago does not count.
func TestListenerIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", succeedAtOnce)
		for range 8 {
			b.pass(time.Minute)
			listening := n.faults.Count(faulty.Listen)
			n.faults.CutListeners()
			begin := time.Now()
			b.await("it listens again", time.Minute, func() bool { return n.faults.Count(faulty.Listen) > listening })
			if took := time.Since(begin); took > 2*poll {
				t.Errorf("it was deaf for %v", took)
			}
			b.succeed(atOnce, b.enqueue(1)...)
		}
	})
}

// Housekeeping that fails for a while is made up for.
func TestHousekeepingFails(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", succeedAtOnce)
		b.pass(2 * lease)
		n.faults.Fail(faulty.Always, faulty.Promote, faulty.Reap, faulty.Expire, faulty.Prune, faulty.Held)
		later := job.Job(1)
		later.NotBefore = time.Now().Add(lease)
		if err := b.client.Enqueue(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		gone, err := b.store.Join(t.Context(), fairlead.Node{Name: "gone"}, lease)
		if err != nil {
			t.Fatal(err)
		}
		n.engine.Pause()
		orphan := b.enqueue(1)[0]
		scope := &driver.Scope{Kinds: []string{job.Name()}}
		if claimed, err := b.store.Claim(t.Context(), driver.Claim{Node: gone, Scope: scope, Max: 1}); err != nil || len(claimed) != 1 {
			t.Fatalf("claimed %d jobs, %v", len(claimed), err)
		}
		n.engine.Resume()
		b.pass(5 * lease)
		if runs := n.runs(nil); runs > 0 {
			t.Fatalf("%d runs", runs)
		}
		n.faults.Mend()
		const slowest = 10 * lease / 4 // of the reaper's back-off
		b.finish(slowest+2*poll, later, orphan)
	})
}

// A node can be ended whatever the database does, and leaves nothing behind.
func TestStoppingWhileTheDatabaseIsAway(t *testing.T) {
	busy := func(ctx context.Context, j *fairlead.Job) error {
		if j.Attempt == 1 {
			<-time.After(poll) // it ends while the database is away
		}
		return ctx.Err()
	}
	for name, fault := range map[string]func(*faulty.Store){
		"everything fails":                         func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Calls()...) },
		"nothing is answered":                      hangAll,
		"settlements fail":                         func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Settle) },
		"settlements are not answered":             func(s *faulty.Store) { s.Hang(faulty.Always, faulty.Settle) },
		"the look for lost leases is not answered": func(s *faulty.Store) { s.Hang(faulty.Always, faulty.Held) },
		"leaving fails":                            func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Leave) },
		"leaving is not answered":                  func(s *faulty.Store) { s.Hang(faulty.Always, faulty.Leave) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				n := b.start("n", busy)
				jobs := b.enqueue(10)
				b.await("some run", poll, func() bool { return n.runs(nil) > 0 })
				fault(n.faults)
				begin := time.Now()
				n.stop()
				if took := time.Since(begin); took > 2*lease {
					t.Errorf("it took %v", took)
				}
				b.start("next", busy)
				b.finish(4*lease, jobs...)
			})
		})
	}
}

// A node that cannot join retries, and can be stopped meanwhile.
func TestJoinFails(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.prepare("n", succeedAtOnce)
		n.faults.Fail(5, faulty.Join)
		n.run()
		b.succeed(30*time.Second, b.enqueue(1)...)
		never := b.prepare("never", succeedAtOnce)
		never.faults.Hang(faulty.Always, faulty.Join)
		never.run()
		b.pass(lease)
		begin := time.Now()
		never.stop()
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %v to end", took)
		}
	})
}
