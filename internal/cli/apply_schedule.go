package cli

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// setByServer lists the fields of a schedule that are not part of a file.
var setByServer = []protoreflect.Name{"id", "version", "next_due", "next_fire", "created_at", "updated_at", "ref", "clear"}

// asFile returns a schedule in the form of a file entry.
func asFile(schedule *fairleadv1.Schedule) *fairleadv1.Schedule {
	out := proto.CloneOf(schedule)
	for _, name := range setByServer {
		out.ProtoReflect().Clear(out.ProtoReflect().Descriptor().Fields().ByName(name))
	}
	return out
}

func (s *session) scheduleExportCommand() *cobra.Command {
	cmd := verb("export [NAME]", "Export one or all schedules, with their calendars, as YAML for apply", s.runs(func(ctx context.Context, c *call) error {
		all := &fairleadv1.ListSchedulesResponse{}
		if len(c.args) > 0 {
			schedule, err := c.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: c.args[0]})
			if err != nil {
				return err
			}
			all.Items = append(all.Items, schedule)
		} else {
			var err error
			if all, err = c.listSchedules(ctx, &fairleadv1.ListSchedulesRequest{}, 0); err != nil {
				return err
			}
		}
		if c.format == "table" {
			c.format = "yaml" // a file is not a table
		}
		calendars, err := c.calendarsDocument(ctx, all.GetItems())
		if err == nil && calendars != nil {
			err = c.document(calendars)
		}
		if err != nil {
			return err
		}
		for _, schedule := range all.GetItems() {
			body, err := wire.Marshal(asFile(schedule))
			if err != nil {
				return err
			}
			if err := c.document(body); err != nil {
				return err
			}
		}
		return nil
	}))
	return cmd
}

// scheduleChange is the change of a schedule to match a file.
type scheduleChange struct {
	current *fairleadv1.Schedule // nil if it does not exist yet
	wanted  *fairleadv1.Schedule
	differences
}

func (change *scheduleChange) text() string {
	return change.describe(change.current == nil, change.wanted.GetName())
}

// scheduleChanges compares the schedules of a file with the existing ones.
func (c *call) scheduleChanges(ctx context.Context, wanted []*fairleadv1.Schedule) (changes []change, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := c.listSchedules(ctx, &fairleadv1.ListSchedulesRequest{}, 0)
	if err != nil {
		return nil, err
	}
	known := byName(there.GetItems())
	for _, w := range wanted {
		w = asFile(w)
		asKept(w)
		change := &scheduleChange{current: known[w.GetName()], wanted: w, differences: differences{defaults: scheduleDefaults, nested: "job"}}
		before := &fairleadv1.Schedule{}
		if change.current != nil {
			before = asFile(change.current)
			change.keep()
		}
		if change.compare("", before.ProtoReflect(), w.ProtoReflect()); change.current == nil || change.any() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// asKept rewrites the cron expression in the form that the server stores. It leaves an
// invalid expression unchanged.
func asKept(schedule *fairleadv1.Schedule) {
	if schedule.Cron == nil {
		return
	}
	if expr, err := cron.Parse(schedule.GetCron()); err == nil {
		schedule.Cron = proto.String(expr.String())
	}
}

// keep preserves whether a schedule is enabled, unless the file specifies it.
func (change *scheduleChange) keep() {
	if change.wanted.Enabled == nil {
		change.wanted.Enabled, change.wanted.Reason = change.current.Enabled, change.current.Reason
	}
}

// scheduleDefaults are the server's defaults for schedule fields.
var scheduleDefaults = map[string]string{
	"timezone": "UTC", "overlap_action": "allow", "failure_action": "run_new", "max_concurrency": "0", "concurrency_policy": "queue", "queue_depth": "100",
	"catch_up_mode": "none", "catch_up_limit": "100", "catch_up_window": "24h0m0s", "enabled": "yes",
	"job.queue": "default", "job.tenant": "default", "job.key_scope": "live", "job.on_duplicate": "error", "job.on_crash": "revive", "job.on_fail": "keep",
}

func (change *scheduleChange) asked() *fairleadv1.WhatIfChange {
	return &fairleadv1.WhatIfChange{Schedule: change.versioned()}
}

// versioned returns the wanted schedule with the version of the current one.
func (change *scheduleChange) versioned() *fairleadv1.Schedule {
	wanted := proto.CloneOf(change.wanted)
	wanted.Ref, wanted.Version = change.current.GetId(), change.current.GetVersion()
	return wanted
}

// make changes one schedule.
func (change *scheduleChange) make(ctx context.Context, c *call) (err error) {
	if change.current == nil {
		_, err = c.schedules.CreateSchedule(ctx, change.wanted)
		return err
	}
	_, err = c.schedules.UpdateSchedule(ctx, change.versioned())
	return err
}
