package faulty_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// A node that cannot confirm its lease stops by itself: its handlers end before the lease
// expires, so that they never run at the same time as those of the node that takes over its
// jobs. It then continues as a new node.
func TestSelfFencing(t *testing.T) {
	for name, fault := range map[string]func(*faulty.Store){
		"beats fail":             func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Beat, faulty.Leave, faulty.Join) },
		"beats are not answered": func(s *faulty.Store) { s.Hang(faulty.Always, faulty.Beat, faulty.Leave, faulty.Join) },
		"nothing is answered":    hangAll,
		"everything fails":       func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Calls()...) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *bubble) {
				var cut, taken time.Time
				first := b.start("first", func(ctx context.Context, _ *fairlead.Job) error {
					if !cut.IsZero() {
						return nil
					}
					<-ctx.Done()
					cut = time.Now()
					return ctx.Err()
				})
				jobs := b.enqueue(1)
				b.await("the job runs", poll, func() bool { return first.runs(nil) == 1 })
				b.pass(2 * lease)
				second := b.start("second", func(context.Context, *fairlead.Job) error {
					taken = time.Now()
					return nil
				})
				b.pass(2 * lease) // it must have been there for a lease to take from others
				before := first.id()
				fault(first.faults)
				until := b.until(before)
				b.finish(3*lease, jobs...)
				switch {
				case cut.IsZero() || taken.IsZero():
					t.Fatalf("the context ended at %v, the job was taken at %v", cut, taken)
				case !cut.Before(until):
					t.Errorf("the context ended %v after the lease", cut.Sub(until))
				case taken.Before(until):
					t.Errorf("the job was taken %v before the end of the lease", until.Sub(taken))
				case taken.Sub(until) > lease/2:
					t.Errorf("the job was taken only %v after the end of the lease", taken.Sub(until))
				}
				first.faults.Mend()
				b.await("it is a new node", lease, func() bool { return first.id() > before && first.engine.Ready() })
				second.stop()
				b.succeed(lease, b.enqueue(10)...)
			})
		})
	}
}

// Beats with lost responses take effect in the database. The node cannot know that, and
// stops nevertheless.
func TestLostAnswersOfBeats(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		var cut []time.Time
		n := b.start("n", func(ctx context.Context, j *fairlead.Job) error {
			if j.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			cut = append(cut, time.Now())
			return ctx.Err()
		})
		jobs := b.enqueue(1)
		b.await("the job runs", poll, func() bool { return n.runs(nil) == 1 })
		before, begin := n.id(), time.Now()
		n.faults.LoseAnswer(faulty.Always, faulty.Beat)
		b.pass(lease)
		if len(cut) != 1 || cut[0].Sub(begin) > lease {
			t.Errorf("contexts ended at %v; the last confirmed beat was before %v", cut, begin)
		}
		n.faults.Mend()
		for _, j := range b.finish(4*lease, jobs...) {
			if j.State != fairlead.Succeeded || j.Node == before {
				t.Errorf("job %d %s on node %d", j.ID, j.State, j.Node)
			}
		}
	})
}

// A single lost beat is no death.
func TestOneBeatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", func(ctx context.Context, _ *fairlead.Job) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * lease):
				return nil
			}
		})
		jobs := b.enqueue(4)
		b.await("they run", poll, func() bool { return n.runs(nil) == 4 })
		before := n.id()
		n.faults.Fail(2, faulty.Beat)
		b.succeed(3*lease, jobs...)
		if n.id() != before {
			t.Errorf("node %d became node %d", before, n.id())
		}
	})
}

// A zombie: the node stalls with a finished job until others have run it. Its
// result is refused, and counted.
func TestZombiesFinishIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		second := b.start("second", succeedAtOnce)
		b.pass(2 * lease)
		second.engine.Pause()
		first := b.start("first", succeedAtOnce)
		caught, release := first.faults.Hold(faulty.Settle)
		jobs := b.enqueue(1)
		<-caught
		zombie := first.id()
		first.faults.Hang(faulty.Always, faulty.Beat)
		second.engine.Resume()
		ended := b.finish(3*lease, jobs...)[0]
		if ended.Node != second.id() || ended.Attempt != 2 || ended.Crashes != 0 { // its process lives
			t.Errorf("it ended on node %d in attempt %d after %d crashes", ended.Node, ended.Attempt, ended.Crashes)
		}
		release()
		b.await("the zombie is told", lease, func() bool { return first.answers(fairlead.SettledLost) == 1 })
		after, err := b.client.Get(t.Context(), jobs[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if after.Fence != ended.Fence || after.Node != ended.Node || !after.FinishedAt.Equal(ended.FinishedAt) {
			t.Errorf("the zombie changed %+v to %+v", ended.Status, after.Status)
		}
		first.faults.Mend()
		b.await("it is a new node", 2*lease, func() bool { return first.id() > zombie && first.engine.Ready() })
	})
}

// Trap 5: a claim was on its way when its node was declared dead. It gets
// nothing.
func TestClaimOfADeadNode(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		second := b.start("second", succeedAtOnce)
		b.pass(2 * lease)
		second.engine.Pause()
		jobs := b.enqueue(3)
		first := b.prepare("first", succeedAtOnce)
		first.faults.Delay(2*lease, faulty.Always, faulty.Claim)
		first.run()
		b.await("the claim is on its way", poll, func() bool { return first.faults.Count(faulty.Claim) > 0 })
		first.faults.Fail(faulty.Always, faulty.Beat, faulty.Leave, faulty.Join, faulty.Held)
		first.faults.Wait() // until the claims have arrived
		if reaps := len(second.news.reaps); reaps != 1 {
			t.Fatalf("the first was declared dead %d times", reaps)
		}
		for _, j := range jobs {
			now, err := b.client.Get(t.Context(), j.ID)
			if err != nil || now.State != fairlead.Ready || now.Attempt != 0 {
				t.Errorf("job %d is %v in attempt %d, %v", j.ID, now.State, now.Attempt, err)
			}
		}
		second.engine.Resume()
		b.succeed(lease, jobs...)
	})
}
