package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// Tasks implements TaskService.
type Tasks struct {
	client    *fairlead.Client
	schedules *schedule.Client
	calls     Calls
	runs      *Runs
}

// Calls contains functions that validate calls' args and mask values in them. With the zero
// value, nothing is masked.
type Calls struct {
	// Check rejects args that can never be a call. If nil, httpcall.Validate is used.
	Check func(args json.RawMessage) error
	// Restore replaces masked values in a schedule with the stored ones. It is nil if
	// nothing is masked.
	Restore func(ctx context.Context, s *schedule.Schedule) error
	// Hides reports whether args contain values hidden from callers. It is nil if nothing
	// is hidden.
	Hides func(ctx context.Context, args json.RawMessage) (bool, error)
}

// Store is the part of a store that this package uses.
type Store interface {
	fairlead.Store
	schedule.Store
}

// New returns the services for a store's tasks and their runs.
func New(store Store, calls Calls) (*Tasks, *Runs) {
	if calls.Check == nil {
		calls.Check = httpcall.Validate
	}
	client := fairlead.NewClient(store)
	schedules := schedule.NewClient(store)
	runs := &Runs{client: client, schedules: schedules}
	return &Tasks{client: client, schedules: schedules, calls: calls, runs: runs}, runs
}

// isTask reports whether a schedule can be shown as a task.
func isTask(s *schedule.Schedule) bool { return s.Job.Kind == httpcall.Kind && s.Cron != "" }

func noSuchTask(ref string) error { return fmt.Errorf("task %q: %w", ref, fairlead.ErrNotFound) }

// find returns the schedule of a task by ID or name. If a name is a number, an ID takes
// precedence.
func (t *Tasks) find(ctx context.Context, ref string) (schedule.Schedule, error) {
	found, err := schedule.Schedule{}, fairlead.ErrNotFound
	if id, notNumber := strconv.ParseInt(ref, 10, 64); notNumber == nil {
		found, err = t.schedules.ByID(ctx, id)
	}
	if errors.Is(err, fairlead.ErrNotFound) {
		found, err = t.schedules.Get(ctx, ref)
	}
	if errors.Is(err, fairlead.ErrNotFound) || err == nil && !isTask(&found) {
		return schedule.Schedule{}, noSuchTask(ref)
	}
	return found, err
}

// CreateTask stores a new task.
func (t *Tasks) CreateTask(ctx context.Context, in *fairleadv1.Task) (*fairleadv1.Task, error) {
	var c complaints
	for field, given := range map[string]bool{"id": in.GetId() != 0, "version": in.GetVersion() != 0, "ref": in.GetRef() != ""} {
		if given {
			c.refuse(field, "is set by the server; omit it")
		}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return t.put(ctx, schedule.Schedule{Job: fairlead.Job{Kind: httpcall.Kind}}, withDefaults(in))
}

// put stores a schedule after applying the fields of a task.
func (t *Tasks) put(ctx context.Context, s schedule.Schedule, in *fairleadv1.Task) (*fairleadv1.Task, error) {
	before := s.Job
	if err := apply(in, &s); err != nil {
		return nil, err
	}
	if t.calls.Restore != nil {
		if err := t.calls.Restore(ctx, &s); err != nil {
			return nil, renamed(err)
		}
	}
	if err := t.sentAlong(ctx, &before, &s.Job, in); err != nil {
		return nil, err
	}
	if err := t.calls.Check(s.Job.Args); err != nil {
		return nil, renamed(err)
	}
	stored, err := t.schedules.Put(ctx, s)
	if err != nil {
		return nil, renamed(err)
	}
	return taskOf(&stored)
}

// GetTask returns a task.
func (t *Tasks) GetTask(ctx context.Context, in *fairleadv1.GetTaskRequest) (*fairleadv1.Task, error) {
	s, err := t.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return taskOf(&s)
}

// ListTasks lists tasks, ordered by name. It skips schedules that are not tasks.
func (t *Tasks) ListTasks(ctx context.Context, in *fairleadv1.ListTasksRequest) (*fairleadv1.ListTasksResponse, error) {
	size := int(in.GetPageSize())
	if size == 0 {
		size = fairlead.DefaultPage
	}
	filter := schedule.Filter{Tenants: in.GetTenant(), After: in.GetPageToken(), Limit: size + 1} // one more shows whether there is a next page
	if in.GetStatus() != "" {
		enabled := in.GetStatus() == statusEnabled
		filter.Enabled = &enabled
	}
	out := &fairleadv1.ListTasksResponse{}
	for {
		page, err := t.schedules.List(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if !isTask(&page[i]) {
				continue
			}
			if len(out.Items) == size {
				out.NextPageToken = out.Items[size-1].GetName()
				return out, nil
			}
			task, err := taskOf(&page[i])
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, task)
		}
		if len(page) < filter.Limit {
			return out, nil
		}
		filter.After = page[len(page)-1].Name
	}
}
