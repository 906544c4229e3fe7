package tasks

import (
	"context"
	"encoding/json"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// UpdateTask replaces all of a task's fields. If the request contains no version, it
// replaces the task regardless of the stored version.
func (t *Tasks) UpdateTask(ctx context.Context, in *fairleadv1.Task) (*fairleadv1.Task, error) {
	return t.change(ctx, in, withDefaults(in))
}

// PatchTask changes the fields given in the request. Fields that are null are reset to their
// defaults.
func (t *Tasks) PatchTask(ctx context.Context, in *fairleadv1.Task) (*fairleadv1.Task, error) {
	fields, err := withCleared(in)
	if err != nil {
		return nil, err
	}
	return t.change(ctx, in, fields)
}

// withCleared returns a task in which the cleared fields are set to their defaults.
func withCleared(in *fairleadv1.Task) (*fairleadv1.Task, error) {
	var c complaints
	out, defaults := proto.Clone(in).(*fairleadv1.Task), withDefaults(&fairleadv1.Task{})
	into, from := out.ProtoReflect(), defaults.ProtoReflect()
	for _, name := range in.GetClear() {
		field := into.Descriptor().Fields().ByName(protoreflect.Name(name))
		switch {
		case field == nil:
			c.refuse("clear", "contains %q, which is not a field of a task", name)
		case from.Has(field):
			into.Set(field, from.Get(field))
		}
	}
	return out, c.err()
}

func (t *Tasks) change(ctx context.Context, in, fields *fairleadv1.Task) (*fairleadv1.Task, error) {
	var c complaints
	if in.GetRef() == "" {
		c.refuse("ref", "is missing; set the id or name of the task")
		return nil, c.err()
	}
	current, err := t.find(ctx, in.GetRef())
	if err != nil {
		return nil, err
	}
	if in.GetId() != 0 && in.GetId() != current.ID {
		c.refuse("id", "is %d, but the task has the id %d; omit it", in.GetId(), current.ID)
		return nil, c.err()
	}
	if in.GetVersion() != 0 {
		current.Version = in.GetVersion()
	}
	return t.put(ctx, current, fields)
}

// Elsewhere is the error message for a change to a task's target that would send
// confidential values to another host.
const Elsewhere = `points to a host other than the one for which the confidential values shown as "***" were stored; give these values too, or keep scheme, host and port`

// sentAlong rejects a new target for a call that retains values hidden from callers. These
// values were stored for the previous target and would be sent to a host of the caller's
// choice.
func (t *Tasks) sentAlong(ctx context.Context, before, after *fairlead.Job, fields *fairleadv1.Task) error {
	kept, err := callOf(before)
	if err != nil || t.calls.Hides == nil {
		return err
	}
	call, err := callOf(after)
	if err != nil || httpcall.SameTarget(call.URL, kept.URL) {
		return err
	}
	kept.URL = ""
	if len(fields.GetHeadersJson()) > 0 {
		kept.Headers = nil
	}
	if fields.BodyTemplate != nil {
		kept.Body = nil
	}
	args, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	hidden, err := t.calls.Hides(ctx, args)
	if err == nil && hidden {
		var c complaints
		c.refuse("target_url", "%s", Elsewhere)
		err = c.err()
	}
	return err
}

// DeleteTask deletes a task.
func (t *Tasks) DeleteTask(ctx context.Context, in *fairleadv1.GetTaskRequest) (*fairleadv1.DeleteTaskResponse, error) {
	s, err := t.find(ctx, in.GetId())
	if err == nil {
		err = t.schedules.Delete(ctx, s.ID)
	}
	if err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteTaskResponse{}, nil
}

// EnableTask enables a task. The task runs only for instants after this call.
func (t *Tasks) EnableTask(ctx context.Context, in *fairleadv1.GetTaskRequest) (*fairleadv1.Task, error) {
	return t.turn(ctx, in, t.schedules.Enable)
}

// DisableTask disables a task. Its existing runs continue.
func (t *Tasks) DisableTask(ctx context.Context, in *fairleadv1.GetTaskRequest) (*fairleadv1.Task, error) {
	return t.turn(ctx, in, func(ctx context.Context, id int64) (schedule.Schedule, error) {
		return t.schedules.Disable(ctx, id, "")
	})
}

// turn enables or disables a task.
func (t *Tasks) turn(ctx context.Context, in *fairleadv1.GetTaskRequest, to func(context.Context, int64) (schedule.Schedule, error)) (*fairleadv1.Task, error) {
	s, err := t.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if s, err = to(ctx, s.ID); err != nil {
		return nil, renamed(err)
	}
	return taskOf(&s)
}

// TriggerTask starts a run of a task now.
func (t *Tasks) TriggerTask(ctx context.Context, in *fairleadv1.GetTaskRequest) (*fairleadv1.TaskRun, error) {
	s, err := t.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	fire, err := t.schedules.Trigger(ctx, s.ID, nil)
	if err != nil {
		return nil, err
	}
	return t.runs.run(ctx, fire)
}

// ListTaskRuns lists a task's runs, newest first.
func (t *Tasks) ListTaskRuns(ctx context.Context, in *fairleadv1.ListTaskRunsRequest) (*fairleadv1.ListTaskRunsResponse, error) {
	s, err := t.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return t.runs.list(ctx, s.ID, in.GetPageToken(), int(in.GetPageSize()))
}
