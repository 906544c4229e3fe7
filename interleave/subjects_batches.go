package interleave

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// Batches of a scene upgrade hosts.
const (
	targetType = "host"
	batchType  = "upgrade"
)

var taskKind = batch.TaskKind(targetType, batchType)

// batchSubjects returns batches of two tasks in each phase. Their job is the first task.
func batchSubjects() []Subject {
	run, only := []Trait{hasJob, hasRun, hasBatch}, []Trait{hasBatch}
	ended := append(run, hasEnded)
	succeeded := fairlead.Settlement{Move: fairlead.Succeed}
	failed := fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no luck"}
	return []Subject{
		{"a new batch", only, func(s *scene) error { return s.started(batch.Batch{}) }},
		{"a batch with a ready task", []Trait{hasJob, hasBatch}, func(s *scene) error { return s.run(s.releases(1), s.conduct, s.task) }},
		{"a batch with a running task", run, func(s *scene) error { return s.run(s.releases(1), s.conduct, s.leasedTask) }},
		{"a batch with a task that ended", ended, func(s *scene) error {
			return s.run(s.releases(1), s.conduct, s.leasedTask, func() error { return s.settled(succeeded) }, s.aged)
		}},
		{"a paused batch", run, func(s *scene) error {
			return s.run(s.releases(1), s.conduct, s.leasedTask, func() error {
				_, err := batch.NewClient(s.store).Pause(s.ctx, s.batch, "wait")
				return err
			})
		}},
		{"a batch whose last task runs", run, func(s *scene) error {
			return s.run(s.releases(1), s.conduct, s.leasedTask, func() error { return s.settled(succeeded) }, s.conduct, s.leasedTask)
		}},
		{"a batch that succeeded", ended, func(s *scene) error { return s.run(s.releases(2), s.ends(succeeded, succeeded), s.aged) }},
		{"a batch that failed in part", ended, func(s *scene) error { return s.run(s.releases(2), s.ends(succeeded, failed), s.aged) }},
		{"a batch that is rolled back", run, func(s *scene) error {
			return s.run(s.releases(2), s.ends(succeeded, failed), s.rollBack, s.conduct, s.leasedTask)
		}},
		{"a cancelled batch whose task runs", run, func(s *scene) error {
			return s.run(s.releases(1), s.conduct, s.leasedTask, func() error {
				_, err := batch.NewClient(s.store).Cancel(s.ctx, s.batch, "enough")
				return err
			})
		}},
	}
}

// started starts a batch of two tasks.
func (s *scene) started(b batch.Batch) error {
	b.Name, b.Type = "upgrade", batchType
	var changes []batch.Change
	for i := range 2 {
		changes = append(changes, batch.Change{
			Target: batch.Target{ID: fmt.Sprint("host", i), Type: targetType},
			Before: json.RawMessage(`1`), After: json.RawMessage(`2`),
		})
	}
	started, err := batch.NewClient(s.store).Start(s.ctx, b, changes...)
	if err != nil {
		return err
	}
	s.batch = started.ID
	s.label("the batch", started.ID)
	chunks, err := s.store.Chunks(s.ctx, s.batch, batch.ChunkFilter{})
	for _, chunk := range chunks {
		for i := range chunk.Size {
			s.label(fmt.Sprint("task ", i+1), chunk.First+int64(i))
		}
	}
	return err
}

// releases starts a batch that releases so many tasks at once.
func (s *scene) releases(most int) func() error {
	return func() error { return s.started(batch.Batch{MaxRunning: most}) }
}

// conduct does what nodes do with an open batch, until nothing follows at once.
func (s *scene) conduct() error { return conduct(s.ctx, s.store, s.batch) }

func conduct(ctx context.Context, store Store, id int64) error {
	for range 10 {
		done, err := batch.Conduct(ctx, store, id)
		if err != nil {
			return err
		}
		if done.Prepare {
			if err := batch.Prepare(ctx, store, id, done.Try); err != nil {
				return err
			}
			continue
		}
		if done.Next != 0 {
			return nil
		}
	}
	return nil
}

// task makes the first live task the subject.
func (s *scene) task() error {
	jobs, err := s.store.Find(s.ctx, fairlead.Filter{Kinds: []string{taskKind}, States: []fairlead.State{fairlead.Ready}})
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return fmt.Errorf("no task is ready")
	}
	s.job = jobs[len(jobs)-1]
	return nil
}

// leasedTask lets the holder claim a task, which becomes the subject.
func (s *scene) leasedTask() (err error) {
	s.job, err = s.claim(everything())
	return err
}

// ends lets the tasks end and counts them.
func (s *scene) ends(settlements ...fairlead.Settlement) func() error {
	return func() error {
		if err := s.conduct(); err != nil {
			return err
		}
		for _, settlement := range settlements {
			if err := s.run(s.leasedTask, func() error { return s.settled(settlement) }); err != nil {
				return err
			}
		}
		return s.conduct()
	}
}

func (s *scene) rollBack() error {
	_, err := batch.NewClient(s.store).RollBack(s.ctx, s.batch, batch.RollBack{})
	return err
}

// batchActors returns the operations on batches.
func batchActors() []Actor {
	on := []Trait{hasBatch}
	act := func(do func(c *cue, batches *batch.Client) error) func(c *cue) string {
		return func(c *cue) string { return verdict(do(c, batch.NewClient(c.store))) }
	}
	return []Actor{
		{Name: "conduct the batch", On: on, Repeats: true, Steps: true, Do: func(c *cue) string {
			return notGone(conduct(c.ctx, c.store, c.batch))
		}},
		{Name: "cancel the batch", On: on, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.Cancel(c.ctx, c.batch, "enough")
			return err
		})},
		{Name: "retry the batch", On: on, Steps: true, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.Retry(c.ctx, c.batch)
			return err
		})},
		{Name: "roll the batch back", On: on, Steps: true, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.RollBack(c.ctx, c.batch, batch.RollBack{})
			return err
		})},
		{Name: "pause the batch", On: on, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.Pause(c.ctx, c.batch, "look first")
			return err
		})},
		{Name: "resume the batch", On: on, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.Resume(c.ctx, c.batch)
			return err
		})},
		{Name: "delete the batch", On: on, Waits: true, Do: act(func(c *cue, b *batch.Client) error { return b.Delete(c.ctx, c.batch) })},
		{Name: "start a batch", On: on, Steps: true, Do: act(func(c *cue, b *batch.Client) error {
			_, err := b.Start(c.ctx, batch.Batch{Name: "another", Type: batchType}, batch.Change{Target: batch.Target{ID: "host9", Type: targetType}})
			return err
		})},
	}
}

// notGone returns the result of a loop that looks at something again and again: that it has
// been deleted in the meantime is no news.
func notGone(err error) string {
	if errors.Is(err, fairlead.ErrNotFound) {
		return "ok"
	}
	return verdict(err)
}
