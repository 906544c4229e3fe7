package faulty_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/sim/faulty"
)

// painting is a node that processes the tasks of a batch: it remembers the previous state,
// and then changes it.
type painting struct {
	*node
	mu     sync.Mutex
	asked  map[int64]int // task → how often it was asked what is there
	done   map[int64]int // task → how often it was applied
	before func(step string)
}

// stepped lets a test do something before a step of a task.
func (p *painting) stepped(step string) {
	if p.before != nil {
		p.before(step)
	}
}

const taskTime = 5 * time.Second

func (b *bubble) painting() *painting {
	p := &painting{asked: map[int64]int{}, done: map[int64]int{}}
	mux, did := fairlead.NewMux(), &news{}
	batch.Handle(mux, batch.Operation{
		TargetType: "wall", BatchType: "paint", Timeout: taskTime,
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			p.stepped("ask")
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked[task.Task]++
			return json.RawMessage(`{"colour":"old"}`), nil
		},
		AlreadyDone: func(context.Context, batch.TaskArgs) (bool, error) {
			p.stepped("look")
			return false, nil
		},
		Process: func(_ context.Context, task batch.TaskArgs) error {
			p.stepped("apply")
			p.mu.Lock()
			defer p.mu.Unlock()
			p.done[task.Task]++
			return nil
		},
	})
	p.node = b.prepareWith("painter", mux, did)
	return p
}

// paint creates a batch of tasks whose state before is unknown.
func (p *painting) paint(tasks int) batch.Batch {
	t := p.b.t
	t.Helper()
	changes := make([]batch.Change, tasks)
	for i := range changes {
		changes[i] = batch.Change{Target: batch.Target{ID: fmt.Sprint(i), Type: "wall"}, After: json.RawMessage(`{"colour":"new"}`)}
	}
	batch, err := p.b.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "paint"}, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

// wantAll waits until all tasks of a batch have succeeded, and requires that none
// failed on the way.
func (p *painting) wantAll(it batch.Batch, within time.Duration) {
	t := p.b.t
	t.Helper()
	p.b.await("the batch completes", within, func() bool {
		found, err := p.b.batches.Get(t.Context(), it.ID)
		if err != nil {
			t.Fatal(err)
		}
		it = found
		return !found.EndedAt.IsZero()
	})
	if it.Tally != (batch.Tally{Success: it.Total}) {
		t.Errorf("it ended as %+v", it.Tally)
	}
	jobs, err := p.b.client.Find(t.Context(), fairlead.Filter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs.Jobs {
		if j.Failures != 0 {
			t.Errorf("job %d failed %d times: %s", j.ID, j.Failures, j.Error)
		}
	}
}

// A store that does not answer, whatever step of a task it is at and in whatever way,
// is no failure of the task.
func TestTasksOutliveAStoreThatDoesNotAnswer(t *testing.T) {
	const tasks = 6
	for name, fail := range map[string]func(s *faulty.Store){
		"fails a few times":         func(s *faulty.Store) { s.Fail(5, faulty.Save, faulty.Settle) },
		"loses its answer":          func(s *faulty.Store) { s.LoseAnswer(5, faulty.Save, faulty.Settle) },
		"fails":                     func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Save, faulty.Settle) },
		"does not answer":           func(s *faulty.Store) { s.Hang(faulty.Always, faulty.Save, faulty.Settle) },
		"fails in all that it does": func(s *faulty.Store) { s.Fail(faulty.Always, faulty.Calls()...) },
	} {
		for _, step := range []string{"ask", "look", "apply"} {
			for what, away := range map[string]time.Duration{"for less than a task's time": taskTime / 2, "for several leases": 4 * lease} {
				t.Run(fmt.Sprint(name, " from ", step, " on ", what), func(t *testing.T) {
					inBubble(t, func(_ *testing.T, b *bubble) {
						p := b.painting()
						begun := make(chan struct{})
						var once sync.Once
						p.before = func(at string) {
							if at == step {
								once.Do(func() { fail(p.faults); close(begun) })
							}
						}
						p.run()
						b.await("it has joined", lease, func() bool { return p.id() != 0 })
						batch := p.paint(tasks)
						<-begun
						b.pass(away)
						p.faults.Mend()
						p.wantAll(batch, 4*time.Minute)
					})
				})
			}
		}
	}
}

// A handler that passes on what the store said has not failed.
func TestAHandlerThatPassesOnThatTheStoreIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		var mu sync.Mutex
		away := true
		n := b.start("n", func(context.Context, *fairlead.Job) error {
			mu.Lock()
			defer mu.Unlock()
			if away {
				return fmt.Errorf("enqueue the next: %w", faulty.ErrFault)
			}
			return nil
		})
		once := job.Job(1)
		once.MaxAttempts = 1
		if err := b.client.Enqueue(t.Context(), once); err != nil {
			t.Fatal(err)
		}
		b.await("it was tried again", time.Minute, func() bool { return n.runs(once) > 2 })
		mu.Lock()
		away = false
		mu.Unlock()
		ended := b.finish(time.Minute, once)[0]
		if ended.State != fairlead.Succeeded || ended.Failures != 0 {
			t.Errorf("it %s after %d failures: %s", ended.State, ended.Failures, ended.Error)
		}
	})
}

// What a handler says while its node has lost its lease comes to an end with it.
func TestASaveEndsWithTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		saved := make(chan error, 1)
		var once sync.Once
		n := b.start("n", func(ctx context.Context, _ *fairlead.Job) error {
			err := fairlead.Progress(context.WithoutCancel(ctx), "halfway")
			once.Do(func() { saved <- err })
			return err
		})
		n.faults.Fail(faulty.Always, faulty.Save, faulty.Beat)
		b.enqueue(1)
		b.pass(2 * lease)
		select {
		case err := <-saved:
			if !errors.Is(err, fairlead.ErrUnavailable) {
				t.Errorf("it ended with %v", err)
			}
		default:
			t.Error("it has not ended")
		}
		n.faults.Mend()
	})
}
