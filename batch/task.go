package batch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// TaskFilter selects tasks in a batch. An empty field matches all tasks.
type TaskFilter struct {
	Batch  int64
	IDs    []int64
	States []TaskState
	// Doubtful selects only doubtful tasks. See Task.Doubtful.
	Doubtful bool
	After    int64 // only IDs above this one: the last ID of the previous page
	Limit    int   // maximum number of tasks; zero means 100
}

// Tasks returns the matching tasks in a batch, ordered by ID. It returns ErrNotFound if the
// batch does not exist.
func (c *Client) Tasks(ctx context.Context, filter TaskFilter) ([]Task, error) {
	tasks, _, err := c.markedTasks(ctx, filter)
	return tasks, err
}

// markedTasks lists tasks of a batch with their marks.
func (c *Client) markedTasks(ctx context.Context, filter TaskFilter) ([]Task, []Mark, error) {
	batch, err := c.Get(ctx, filter.Batch)
	if err != nil {
		return nil, nil, err
	}
	if len(filter.IDs) == 0 {
		filter.IDs = nil
	}
	if filter.Limit <= 0 {
		filter.Limit = fairlead.DefaultPage
	}
	l := &taskList{client: c, batch: &batch, filter: filter, current: map[int64]taskPlace{}}
	if err := l.findLater(ctx); err != nil {
		return nil, nil, err
	}
	tasks, err := l.list(ctx)
	return tasks, l.marks, err
}

// taskPlace is where a task stands.
type taskPlace struct {
	kind   PassKind
	mark   Mark
	job    int64
	ended  int64 // milliseconds since CreatedAt of the batch
	before []byte
	lost   bool
}

// taskList is a page of tasks in the making.
type taskList struct {
	client  *Client
	batch   *Batch
	filter  TaskFilter
	current map[int64]taskPlace // tasks of later passes
	tasks   []Task
	marks   []Mark      // theirs
	places  []taskPlace // of the tasks seen last
}

// findLater finds the tasks that took part in later passes: the last counts.
func (l *taskList) findLater(ctx context.Context) error {
	if len(l.batch.Passes) == 1 {
		return nil
	}
	return l.walk(ctx, chunksPerPass*2-1, func(chunk *Chunk) (bool, error) {
		for i, mark := range chunk.States {
			if mark != MarkPassed {
				l.current[chunk.TaskID(i)] = chunk.place(i)
			}
		}
		return true, nil
	})
}

func (p *Chunk) place(i int) taskPlace {
	place := taskPlace{kind: p.Kind, mark: p.States[i], job: p.First + int64(i), before: p.before(i), lost: p.lost(i)}
	if p.Ended != nil {
		place.ended = p.Ended[i]
	}
	return place
}

// walk calls do with the chunks of tasks behind a number, until it returns false.
func (l *taskList) walk(ctx context.Context, after int, do func(*Chunk) (bool, error)) error {
	p := preparing{store: l.client.store, batch: l.batch}
	return p.walk(ctx, after, true, func(chunk *Chunk) (bool, error) {
		if chunk.Kind == PassThen {
			return true, nil
		}
		return do(chunk)
	})
}

// list goes through the tasks as they were created.
func (l *taskList) list(bounded context.Context) ([]Task, error) {
	ctx := paged.Unbounded(bounded) // a page is bounded by its tasks, not by the jobs that tell of them
	from, to := l.filter.After+1, int64(math.MaxInt64)
	if l.filter.IDs != nil {
		from, to = max(from, slices.Min(l.filter.IDs)), slices.Max(l.filter.IDs)
	}
	before, err := l.before(ctx, from)
	if err != nil {
		return nil, err
	}
	err = l.walk(ctx, before, func(chunk *Chunk) (bool, error) {
		if chunk.Kind != PassForward || chunk.First > to {
			return false, nil
		}
		seen := len(l.tasks)
		for i := range chunk.States {
			l.see(chunk, i)
		}
		err := l.fill(ctx, seen)
		return len(l.tasks) < l.filter.Limit && !l.full(paged.From(bounded), seen), err
	})
	return l.tasks[:min(len(l.tasks), l.filter.Limit)], err
}

// full reports whether the page is as large as it may be with the tasks that were added to
// it. It ends with the task that makes it so.
func (l *taskList) full(bound *paged.Bound, added int) bool {
	for i := added; i < min(len(l.tasks), l.filter.Limit); i++ {
		task := &l.tasks[i]
		if bound.Add(len(task.Before) + len(task.After) + len(task.Info)) {
			l.tasks, l.marks = l.tasks[:i+1], l.marks[:i+1]
			return true
		}
	}
	return false
}

// before is the number of a chunk of the first pass before which there is no task with
// this ID or a larger one: IDs grow with the numbers of the chunks.
func (l *taskList) before(ctx context.Context, id int64) (int, error) {
	low, high := chunksPerPass, chunksPerPass+l.batch.Total
	if id <= 1 {
		return low - 1, nil
	}
	for low < high {
		middle := (low + high) / 2
		chunks, err := l.client.store.Chunks(ctx, l.batch.ID, ChunkFilter{After: middle - 1, Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(chunks) > 0 && chunks[0].Kind == PassForward && chunks[0].Last() < id {
			low = chunks[0].Number + 1
		} else {
			high = middle
		}
	}
	return low - 1, nil
}

// see adds a task of the first pass, if it may be one that is asked for.
func (l *taskList) see(chunk *Chunk, i int) {
	id := chunk.First + int64(i)
	if id <= l.filter.After || l.filter.IDs != nil && !slices.Contains(l.filter.IDs, id) {
		return
	}
	place := chunk.place(i)
	if later, passed := l.current[id]; passed {
		place = later
	}
	if l.filter.Doubtful && !place.lost {
		return
	}
	task := Task{
		ID: id, Batch: l.batch.ID, BatchType: l.batch.Type, Creator: l.batch.Creator, Env: l.batch.Env, Region: l.batch.Queue,
		Change: chunk.Tasks[i].Change, State: taskState(place.kind, place.mark, l.batch.dropped()), Job: place.job,
		Doubtful: place.lost,
	}
	if task.Before == nil {
		task.Before = place.before
	}
	if !l.wants(task.State) && (place.mark != MarkOut || !l.wants(running(place.kind))) {
		return
	}
	task.UpdatedAt = l.batch.CreatedAt.Add(time.Duration(place.ended) * time.Millisecond)
	l.tasks, l.places = append(l.tasks, task), append(l.places, place)
}

func (l *taskList) wants(state TaskState) bool {
	return len(l.filter.States) == 0 || slices.Contains(l.filter.States, state)
}

// running is the state of tasks that run in a pass.
func running(kind PassKind) TaskState {
	if kind == PassUndo {
		return TaskRollbackRunning
	}
	return TaskRunning
}

// fill adds what only the jobs of tasks tell, and drops those that turn out not to be
// asked for.
func (l *taskList) fill(ctx context.Context, seen int) error {
	fresh, places := l.tasks[seen:], l.places
	l.tasks, l.places = l.tasks[:seen], nil
	var ids []int64
	for _, place := range places {
		if place.mark != MarkHeld && place.mark != MarkDone {
			ids = append(ids, place.job)
		}
	}
	found, err := paged.Bare(ctx, l.client.store, ids)
	if err != nil {
		return err
	}
	jobs := map[int64]*fairlead.Job{}
	for _, job := range found {
		jobs[job.ID] = job
	}
	for i, task := range fresh {
		if job := jobs[task.Job]; job != nil {
			task.see(places[i], job)
		} else if places[i].mark == MarkDoubt {
			task.Info = "its job was deleted; whether the change was applied is unknown"
		}
		if l.wants(task.State) {
			l.tasks, l.marks = append(l.tasks, task), append(l.marks, places[i].mark)
		}
	}
	return nil
}

// see adds what a task's job tells of it.
func (t *Task) see(place taskPlace, job *fairlead.Job) {
	t.Info, t.Retries = job.Error, max(0, job.Failures-1)
	if place.mark != MarkOut {
		return
	}
	t.Retries = job.Failures
	if job.State == fairlead.Running || job.State == fairlead.Waiting {
		t.State = running(place.kind)
	}
	t.UpdatedAt = job.CreatedAt
	if job.StartedAt.After(t.UpdatedAt) {
		t.UpdatedAt = job.StartedAt
	}
}
