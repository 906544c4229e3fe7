package batch

import "context"

// reaches reports whether a task in a state can be rolled back. One that failed or was cancelled
// can if it may have been applied.
func (r RollBack) reaches(state TaskState, mark Mark) bool {
	switch state {
	case TaskSuccess, TaskRollbackFail:
		return true
	case TaskFail:
		return r.Failed || mark == MarkDoubt
	case TaskCancel:
		return mark == MarkHalted
	}
	return false
}

// PlanRollBack returns the first limit tasks that RollBack would undo now, in rollback order
// and with the values to restore, as well as the total number of tasks to undo. Doubtful
// tasks are marked. PlanRollBack changes nothing and returns the same errors as RollBack.
func (c *Client) PlanRollBack(ctx context.Context, id int64, r RollBack, limit int) (tasks []Task, total int, err error) {
	if err := c.checkTasks(ctx, id, r.Tasks, "roll back", r.reaches); err != nil {
		return nil, 0, err
	}
	record, err := c.record(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if !record.canRollBack(r) {
		return nil, 0, illegal("roll back", &record)
	}
	p := &preparing{store: c.store, batch: &record.Batch, want: Wanted{Kind: PassUndo, Tasks: r.Tasks, Failed: r.Failed, Serial: r.Serial}}
	if len(r.Tasks) == 0 {
		p.want.Tasks = nil
	}
	if err := p.choose(ctx); err != nil {
		return nil, 0, err
	}
	for _, chosen := range p.chosen[:min(limit, len(p.chosen))] {
		chunk, err := p.chunk(ctx, chosen.chunk)
		if err != nil {
			return nil, 0, err
		}
		tasks = append(tasks, chunk.task(chosen.index, &record.Batch))
	}
	return tasks, len(p.chosen), nil
}

// task is a task of a chunk as far as the chunk says.
func (p *Chunk) task(i int, batch *Batch) Task {
	task := Task{
		ID: p.TaskID(i), Batch: p.Batch, Change: p.Tasks[i].Change, Job: p.First + int64(i),
		State: taskState(p.Kind, p.States[i], batch.dropped()), Doubtful: p.lost(i),
	}
	task.Before = p.before(i)
	return task
}
