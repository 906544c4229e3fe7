package faulty_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// Trap 1: the database committed a claim, the node never learned of it. The
// node lives, so no other reaps; it must find the jobs itself.
func TestLostAnswerOfAClaim(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		jobs := b.enqueue(20)
		n := b.prepare("n", succeedAtOnce)
		n.faults.LoseAnswer(3, faulty.Claim)
		n.run()
		b.succeed(lease, jobs...)
		for _, j := range jobs {
			if runs := n.runs(j); runs != 1 {
				t.Errorf("job %d ran %d times", j.ID, runs)
			}
		}
	})
}

// Trap 1, when the claim is committed only after the node has looked.
func TestLateEffectOfAClaim(t *testing.T) {
	inBubble(t, func(_ *testing.T, b *bubble) {
		jobs := b.enqueue(4)
		n := b.prepare("n", succeedAtOnce)
		n.faults.Delay(100*time.Millisecond, 2, faulty.Claim) // of jobs, and of crash suspects
		n.run()
		const allowance = lease/10 + 2*poll // jitter of the interval, and a poll to find the released jobs
		b.succeed(lease+allowance, jobs...)
	})
}

// Trap 1, when the look fails too.
func TestLostAnswerOfAClaimWhileHeldFails(t *testing.T) {
	inBubble(t, func(_ *testing.T, b *bubble) {
		jobs := b.enqueue(4)
		n := b.prepare("n", succeedAtOnce)
		n.faults.LoseAnswer(1, faulty.Claim)
		n.faults.Fail(1, faulty.Held)
		n.run()
		b.succeed(2*lease, jobs...)
	})
}

// Trap 2: the database committed a settlement, the node never learned of it.
func TestLostAnswerOfASettlement(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", succeedAtOnce)
		n.faults.LoseAnswer(3, faulty.Settle)
		jobs := b.enqueue(20)
		b.succeed(lease, jobs...)
		b.await("every settlement is acknowledged", lease, func() bool { return n.answers(fairlead.SettledAsAsked) == len(jobs) })
		if lost := n.answers(fairlead.SettledLost); lost > 0 {
			t.Errorf("%d settlements count as lost", lost)
		}
		if runs := n.runs(nil); runs != len(jobs) {
			t.Errorf("%d runs of %d jobs", runs, len(jobs))
		}
	})
}

// Trap 2 for a failed attempt: it fails once, not twice.
func TestLostAnswerOfARetry(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		n := b.start("n", func(_ context.Context, j *fairlead.Job) error {
			if j.Failures == 0 {
				return errors.New("not yet")
			}
			return nil
		})
		// The last repetition comes when the next attempt is running, or over.
		n.faults.LoseAnswer(7, faulty.Settle)
		jobs := b.enqueue(3)
		for _, j := range b.finish(3*lease, jobs...) {
			if j.State != fairlead.Succeeded || j.Failures != 1 || j.Attempt != 2 || n.runs(j) != 2 {
				t.Errorf("job %d %s in attempt %d after %d failures and %d runs", j.ID, j.State, j.Attempt, j.Failures, n.runs(j))
			}
		}
	})
}

// Trap 3: an attempt timed out and was given up; its handler returns nil
// while the next attempt runs.
func TestLateFinisher(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		const timeout = time.Second
		// The first attempt is given up after its timeout and the grace, and the
		// second begins a poll later; the first returns within the second.
		const oblivious, brisk = timeout + grace + poll + 600*time.Millisecond, 900 * time.Millisecond
		n := b.start("n", func(_ context.Context, j *fairlead.Job) error {
			switch {
			case j.Timeout == 0:
			case j.Attempt == 1:
				<-time.After(oblivious)
			default:
				<-time.After(brisk)
			}
			return nil
		})
		slow := job.Job(0)
		slow.Timeout = timeout
		if err := b.client.Enqueue(t.Context(), slow); err != nil {
			t.Fatal(err)
		}
		b.pass(oblivious + 10*time.Millisecond)
		b.succeed(atOnce, b.enqueue(3)...) // nothing holds up others
		now, err := b.client.Get(t.Context(), slow.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.State != fairlead.Running || now.Attempt != 2 {
			t.Errorf("when the first attempt returned, the job was %s in attempt %d", now.State, now.Attempt)
		}
		ended := b.finish(lease, slow)[0]
		if ended.State != fairlead.Succeeded || ended.Fence != now.Fence || ended.Failures != 1 || n.runs(slow) != 2 {
			t.Errorf("it %s under fence %d, not %d, after %d failures and %d runs", ended.State, ended.Fence, now.Fence, ended.Failures, n.runs(slow))
		}
		if n.news.abandoned != 1 {
			t.Errorf("%d handlers were given up", n.news.abandoned)
		}
	})
}
