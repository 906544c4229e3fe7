package scope

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/tasks"
)

// RestoreSchedule replaces the masks in a schedule by the stored values. The values may
// only go to the target for which they were stored: otherwise a caller who may edit a
// schedule, but not see its confidential values, could have them sent to a host, or to the
// service of a tenant, of its own.
func (s Restricted) RestoreSchedule(ctx context.Context, sc *schedule.Schedule) error {
	alert, err := alertOfSchedule(sc.Alert)
	if err != nil || !MayBeMasked(sc.Job.Args) && !MayBeMasked(alert) {
		return err
	}
	var args, told json.RawMessage // stored values
	if sc.Version != 0 {
		found, err := s.store.Schedules(ctx, schedule.Filter{IDs: []int64{sc.ID}})
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0].Job.Kind == sc.Job.Kind && found[0].Job.Tenant == cmp.Or(sc.Job.Tenant, fairlead.DefaultTenant) {
			args = found[0].Job.Args
		}
		if len(found) > 0 {
			if told, err = alertOfSchedule(found[0].Alert); err != nil {
				return err
			}
		}
	}
	if err := s.restore(ctx, "alert", httpcall.Kind, &alert, told); err != nil {
		return err
	}
	if sc.Alert != nil {
		restored := *sc.Alert
		if err := json.Unmarshal(alert, &alertArgs{&restored.URL, &restored.Headers, &restored.Body}); err != nil {
			return err
		}
		sc.Alert = &restored
	}
	return s.restore(ctx, "job.args", sc.Job.Kind, &sc.Job.Args, args)
}

// alertArgs contains the fields that an alert shares with the args of the kind http.
type alertArgs struct {
	URL     *string            `json:"url"`
	Headers *map[string]string `json:"headers,omitempty"`
	Body    *json.RawMessage   `json:"body,omitempty"`
}

// AlertDocument returns the fields of an alert in the form of args of the kind http.
func AlertDocument(url string, headers map[string]string, body json.RawMessage) (json.RawMessage, error) {
	args := alertArgs{URL: &url, Headers: &headers}
	if len(body) > 0 {
		args.Body = &body
	}
	return json.Marshal(args)
}

// alertOfSchedule returns the document of a schedule's alert, or nil.
func alertOfSchedule(alert *schedule.Alert) (json.RawMessage, error) {
	if alert == nil {
		return nil, nil
	}
	return AlertDocument(alert.URL, alert.Headers, alert.Body)
}

// restore replaces masks by the stored values. It rejects a document with a mask whose
// value is unknown, and a call that would send the values to another host.
func (s Restricted) restore(ctx context.Context, field, kind string, document *json.RawMessage, stored json.RawMessage) error {
	all, err := s.store.Confidential(ctx)
	if err != nil {
		return err
	}
	restored, whole := mask.Restore(mask.Fields(all, kind, *document), "args", *document, stored)
	switch {
	case !whole:
		return maskedField(cmp.Or(field, "headers"))
	case kind == httpcall.Kind && !bytes.Equal(restored, *document) && !sameTarget(restored, stored):
		return rest.InvalidField(strings.TrimPrefix(field+".url", "."), tasks.Elsewhere)
	}
	*document = restored
	return nil
}

// Hides reports whether args of a kind contain values hidden from callers.
func (s Restricted) Hides(ctx context.Context, kind string, args json.RawMessage) (bool, error) {
	all, err := s.store.Confidential(ctx)
	return err == nil && mask.Hides(mask.Fields(all, kind, args), "args", args), err
}

// sameTarget reports whether two calls certainly go to the same target.
func sameTarget(args, stored json.RawMessage) bool {
	var now, before httpcall.Call
	return json.Unmarshal(args, &now) == nil && json.Unmarshal(stored, &before) == nil && httpcall.SameTarget(now.URL, before.URL)
}
