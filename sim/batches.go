package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// Batches configures batches that run alongside the jobs of a scenario. Each task writes a
// file. Every other batch is rolled back after it has completed.
type Batches struct {
	Count int
	Tasks int // tasks per batch
}

// Contents of targets before and after a batch.
var (
	untouched = json.RawMessage(`"before"`)
	written   = json.RawMessage(`"after"`)
)

// EndedBatch is the final state of a batch.
type EndedBatch struct {
	ID      int64
	Tasks   int
	Undone  bool // the batch was to be rolled back
	State   batch.State
	Tally   batch.Tally    // tally reported by the batch
	Listed  batch.Tally    // tally of the listed tasks
	Targets map[string]int // number of its files by content
	Why     string         // error of one of its failed tasks
}

// batching is the state of the batches of a run. It belongs to the goroutine of the
// cluster.
type batching struct {
	ids     []int64
	reached batch.Tally // last seen tally of all batches together
	ended   bool        // all batches have ended
}

// makeBatches stores the batches and creates their targets.
func (c *Cluster) makeBatches(ctx context.Context) error {
	c.batching.ended = c.Batches.Count == 0
	if c.batching.ended {
		return nil
	}
	// A batch that no live node can run is rejected, and older workers cannot run it.
	if err := c.joined(ctx, c.workers[len(c.workers)-1]); err != nil {
		return err
	}
	for i := range c.Batches.Count {
		changes := make([]batch.Change, c.Batches.Tasks)
		for n := range changes {
			name := targetName(i, n)
			text, err := json.Marshal(file{Value: untouched})
			if err == nil {
				err = os.WriteFile(filepath.Join(c.Dir, name+fileSuffix), text, 0o600)
			}
			if err != nil {
				return err
			}
			changes[n] = batch.Change{Target: batch.Target{ID: name, Type: fileTarget}, After: written}
		}
		made, err := c.startBatch(ctx, batch.Batch{Name: fmt.Sprintf("batch %d", i), Type: fileWrite}, changes)
		if err != nil {
			return fmt.Errorf("create batch %d: %w", i, err)
		}
		c.batching.ids = append(c.batching.ids, made.ID)
	}
	return nil
}

// startBatch starts a batch. On a busy machine, a worker may lose its lease after it joined,
// and the batch is rejected until the worker has joined again.
func (c *Cluster) startBatch(ctx context.Context, b batch.Batch, changes []batch.Change) (made batch.Batch, err error) {
	for begun := time.Now(); ; {
		made, err = c.batches.Start(ctx, b, changes...)
		if !errors.Is(err, fairlead.ErrInvalid) || time.Since(begun) > GiveUp {
			return made, err
		}
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return batch.Batch{}, err
		}
	}
}

func targetName(batch, task int) string { return fmt.Sprintf("b%d-%d", batch, task) }

// lookAtBatches rolls back completed batches, and reports whether tasks have ended since
// the last check.
func (c *Cluster) lookAtBatches(ctx context.Context) (progressed bool, err error) {
	if c.batching.ended {
		return false, nil
	}
	var reached batch.Tally
	open := 0
	for i, id := range c.batching.ids {
		b, err := c.batches.Get(ctx, id)
		if err != nil {
			return false, err
		}
		for _, state := range batch.TaskStates() {
			*reached.Of(state) += *b.Tally.Of(state)
		}
		switch {
		case b.EndedAt.IsZero():
			open++
		case i%2 == 1 && !b.Undoing:
			open++
			if _, err := c.batches.RollBack(ctx, id, batch.RollBack{}); err != nil {
				return false, err
			}
			c.Logf("batch %d completed as %s and is rolled back", id, b.State())
		}
	}
	progressed = reached != c.batching.reached
	c.batching.reached, c.batching.ended = reached, open == 0
	return progressed, nil
}

// recordBatches reads the final states of batches and the contents of their targets.
func (c *Cluster) recordBatches(ctx context.Context, r *Record) error {
	for i, id := range c.batching.ids {
		batch, err := c.batches.Get(ctx, id)
		if err != nil {
			return fmt.Errorf("read how batches ended: %w", err)
		}
		ended := EndedBatch{ID: id, Tasks: c.Batches.Tasks, Undone: i%2 == 1, State: batch.State(), Tally: batch.Tally, Targets: map[string]int{}}
		if ended.Listed, ended.Why, err = c.listTasks(ctx, id); err != nil {
			return fmt.Errorf("read how tasks ended: %w", err)
		}
		for n := range c.Batches.Tasks {
			held, err := readTarget(filepath.Join(c.Dir, targetName(i, n)+fileSuffix))
			if err != nil {
				return err
			}
			ended.Targets[string(held.Value)]++
		}
		r.Batches = append(r.Batches, ended)
	}
	return nil
}

// listTasks lists the tasks of a batch, counts them by state, and returns the error of one
// failed task.
func (c *Cluster) listTasks(ctx context.Context, b int64) (tally batch.Tally, why string, err error) {
	const page = 1000
	filter := batch.TaskFilter{Batch: b, Limit: page}
	for {
		tasks, err := c.batches.Tasks(ctx, filter)
		if err != nil {
			return tally, why, err
		}
		for i := range tasks {
			*tally.Of(tasks[i].State)++
			if tasks[i].State == batch.TaskFail || tasks[i].State == batch.TaskRollbackFail {
				why = fmt.Sprintf("task %d: %s", tasks[i].ID, tasks[i].Info)
			}
		}
		if len(tasks) < page {
			return tally, why, nil
		}
		filter.After = tasks[len(tasks)-1].ID
	}
}

// batchesWhole checks that every batch ended as required, that its tally matches its tasks,
// and that its targets match its state.
func (c *check) batchesWhole() {
	for _, b := range c.Batches {
		state, done, held := batch.Success, b.Listed.Success, string(written)
		if b.Undone {
			state, done, held = batch.RollbackSuccess, b.Listed.RollbackSuccess, string(untouched)
		}
		if b.State != state || done != b.Tasks {
			c.violated(BatchEndedWrong, 0, "batch %d of %d tasks is %s: %+v %s", b.ID, b.Tasks, b.State, b.Listed, b.Why)
		}
		if b.Tally != b.Listed {
			c.violated(TallyOff, 0, "batch %d counts %+v, and its tasks are %+v", b.ID, b.Tally, b.Listed)
		}
		if b.Targets[held] != b.Tasks {
			c.violated(TargetsOff, 0, "batch %d is %s, and its targets hold %v", b.ID, b.State, b.Targets)
		}
		c.figures.Tasks += b.Tasks
	}
}
