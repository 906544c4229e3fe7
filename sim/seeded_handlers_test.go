package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// errand is the argument of all jobs. The seed, N and the attempt decide what the handler
// does.
type errand struct{ N uint64 }

// Kinds of jobs.
var (
	plain    = fairlead.NewKind[errand]("plain")
	gated    = fairlead.NewKind[errand]("gated")  // with concurrency keys, two places each
	capped   = fairlead.NewKind[errand]("capped") // with a limit that changes
	fleeting = fairlead.NewKind[errand]("short")  // pruned soon
	kinds    = []fairlead.Kind[errand]{plain, gated, capped, fleeting}
)

// patientFrom is the first attempt at which every handler succeeds.
const patientFrom = 6

var errFailing = errors.New("the seed lets this attempt fail")

// run handles a job.
func (w *world) run(ctx context.Context, n *simNode, store *passing, job *fairlead.Job, args errand) (err error) {
	if !w.gate.alive(n.peer) {
		return errDead
	}
	e := Event{What: Started, Process: n.name, Node: job.Node, Job: job.ID, Fence: job.Fence, Attempt: job.Attempt}
	w.note(e)
	draw := drawFor(w.seed, args.N, uint64(job.Attempt), uint64(job.Fence), uint64(job.ID)) // runs of a schedule have the same N
	nap := func(limit time.Duration) error {
		timer := time.NewTimer(time.Millisecond + time.Duration(draw.Int64N(int64(limit))))
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done(): // contexts end together, handlers do not
			<-time.After(time.Duration(1 + draw.Int64N(int64(30*time.Millisecond))))
			return ctx.Err()
		}
	}
	until := fairlead.LeasedUntil(ctx)
	defer func() {
		if time.Now().After(until()) && w.gate.alive(n.peer) {
			w.counts.add(returnsLate)
		}
		e.What = Ended
		w.note(e)
	}()
	if err := nap(300 * time.Millisecond); err != nil {
		return err
	}
	chance := draw.IntN(100)
	if job.Attempt >= patientFrom {
		chance = 99
	}
	switch {
	case chance < 12:
		w.counts.add(failed)
		return errFailing
	case chance < 16:
		w.counts.add(panicked)
		panic("the seed lets this attempt panic")
	case chance < 18:
		w.counts.add(hopeless)
		return fairlead.Fatal(errFailing)
	case chance < 21: // ignores the end of its context
		time.Sleep(5*time.Second + time.Duration(draw.Int64N(int64(15*time.Second))))
		return nil
	case chance < 30:
		w.counts.add(slowHandler)
		return nap(3900 * time.Millisecond)
	case chance < 36:
		w.counts.add(snoozed)
		return fairlead.SnoozeFor(time.Duration(draw.Int64N(int64(3 * time.Second))))
	case chance < 46:
		return w.report(ctx, draw.IntN, nap)
	case chance < 56:
		w.counts.add(awaited)
		within := 3*time.Second + time.Duration(draw.Int64N(int64(8*time.Second)))
		go w.respond(job.ID, job.Fence, args.N)
		if draw.IntN(2) == 0 {
			return fairlead.Await(within).OrRetry()
		}
		return fairlead.Await(within)
	case chance < 64:
		return w.complete(ctx, store, job, nap)
	case chance < 68:
		w.counts.add(replacedItself)
		return fairlead.Replace(w.errandOf(draw.Uint64()))
	case chance < 70:
		w.counts.add(released)
		return fairlead.Release()
	}
	return nap(time.Second)
}

// report stores progress and a memo on the way.
func (w *world) report(ctx context.Context, intN func(int) int, nap func(time.Duration) error) error {
	for i := range 1 + intN(3) {
		if err := fairlead.Progress(ctx, i); err != nil {
			return err
		}
		w.counts.add(progressed)
		if err := fairlead.Remember(ctx, map[string]int{"step": i}); err != nil {
			return err
		}
		if err := nap(500 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// respond answers for a waiting job.
func (w *world) respond(id, fence int64, n uint64) {
	draw := drawFor(w.seed, n, uint64(fence), 7)
	time.Sleep(time.Duration(draw.Int64N(int64(6 * time.Second))))
	client := fairlead.NewClient(w.responder)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	chance := draw.IntN(10)
	if chance == 0 {
		w.counts.add(unanswered)
		return
	}
	if chance == 1 {
		w.counts.add(extended)
		_, _ = client.Extend(ctx, fairlead.Extension{ID: id, Fence: fence, For: 5 * time.Second})
		time.Sleep(time.Duration(draw.Int64N(int64(3 * time.Second))))
	}
	var failure error
	if chance < 4 {
		failure = errFailing
	}
	for range 3 { // an answer may be repeated
		if err := client.Resolve(ctx, id, fence, nil, failure); !errors.Is(err, fairlead.ErrUnavailable) {
			return
		}
		time.Sleep(time.Duration(1 + draw.Int64N(int64(time.Second))))
	}
}

// complete ends a job in a transaction that also enqueues another one.
func (w *world) complete(ctx context.Context, store *passing, job *fairlead.Job, nap func(time.Duration) error) error {
	tx, err := store.beginTx(ctx)
	if err != nil {
		return err
	}
	client := fairlead.NewClient(store).Within(tx)
	err = client.Complete(ctx, job, nil)
	if err == nil {
		err = client.Enqueue(ctx, w.errandOf(uint64(job.Fence)<<10^uint64(job.ID))) // jobs of one claim share a fence
	}
	if err == nil {
		err = nap(300 * time.Millisecond)
	}
	if err != nil {
		tx.rollback()
		if errors.Is(err, fairlead.ErrLeaseLost) {
			return nil
		}
		return err
	}
	return tx.commit(ctx)
}

// errandOf returns a plain job.
func (w *world) errandOf(n uint64) *fairlead.Job { return plain.Job(errand{N: n}) }

const (
	targetType = "cell"
	batchType  = "write"
)

// operation returns what the tasks of batches do.
func (w *world) operation(n *simNode) batch.Operation {
	set := func(ctx context.Context, task batch.TaskArgs, value json.RawMessage) error {
		if !w.gate.alive(n.peer) {
			return errDead
		}
		job, _ := fairlead.RunningJob(ctx)
		draw := drawFor(w.seed, uint64(job.ID), uint64(job.Fence), 11)
		select {
		case <-time.After(time.Millisecond + time.Duration(draw.Int64N(int64(1500*time.Millisecond)))):
		case <-ctx.Done():
			<-time.After(time.Duration(1 + draw.Int64N(int64(30*time.Millisecond))))
			return ctx.Err()
		}
		if !w.gate.alive(n.peer) {
			return errDead
		}
		if !task.Undo && draw.IntN(12) == 0 {
			w.counts.add(taskFailed)
			return errFailing
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if was := w.targets[task.Target.ID]; job.Fence >= was.fence {
			w.targets[task.Target.ID] = target{value: string(value), fence: job.Fence}
		}
		return nil
	}
	return batch.Operation{
		TargetType: targetType, BatchType: batchType, Timeout: time.Minute,
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return json.RawMessage(w.target(task.Target.ID)), nil
		},
		Process: func(ctx context.Context, task batch.TaskArgs) error { return set(ctx, task, task.After) },
		Undo:    func(ctx context.Context, task batch.TaskArgs) error { return set(ctx, task, task.Before) },
	}
}

// untouchedTarget is the value of a target before its first change.
const untouchedTarget = `"initial"`

// target returns the value of a target.
func (w *world) target(id string) string {
	return cmp.Or(w.targets[id].value, untouchedTarget)
}

// errandIn returns the errand of a job, or zero if it has none.
func errandIn(job *fairlead.Job) uint64 {
	var args errand
	if json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.N
}

const sweptKind = "swept"

// doomed reports whether all attempts of an item fail.
func doomed(sweep, index int64) bool { return (sweep*7+index)%37 == 0 }

// item handles an item of a sweep.
func (w *world) item(ctx context.Context, n *simNode, item items.Item[json.RawMessage]) error {
	draw := drawFor(w.seed, uint64(item.Sweep), uint64(item.Index), uint64(item.Attempt), 13)
	select {
	case <-time.After(time.Millisecond + time.Duration(draw.Int64N(int64(400*time.Millisecond)))):
	case <-ctx.Done():
		<-time.After(time.Duration(1 + draw.Int64N(int64(30*time.Millisecond))))
		return ctx.Err()
	}
	switch {
	case !w.gate.alive(n.peer):
		return errDead
	case doomed(item.Sweep, item.Index):
		w.counts.add(itemFailed)
		return errFailing
	case item.Attempt < 3 && draw.IntN(15) == 0:
		return fmt.Errorf("item %d: %w", item.Index, errFailing)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handled[item.Sweep] == nil {
		w.handled[item.Sweep] = map[int64]bool{}
	}
	w.handled[item.Sweep][item.Index] = true
	return nil
}
