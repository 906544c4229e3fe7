package server

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/schedule"
)

// AddConfidential makes fields confidential.
func (s scoped) AddConfidential(ctx context.Context, fields fairlead.Confidential) error {
	if err := whole(ctx); err != nil {
		return err
	}
	return s.store.AddConfidential(ctx, fields)
}

// SetConfidential replaces the confidential fields of a kind.
func (s scoped) SetConfidential(ctx context.Context, kind string, fields []string) error {
	if err := whole(ctx); err != nil {
		return err
	}
	return s.store.SetConfidential(ctx, kind, fields)
}

// Confidential returns what is confidential. Every caller may know that: masked answers show
// it.
func (s scoped) Confidential(ctx context.Context) (fairlead.Confidential, error) {
	return s.store.Confidential(ctx)
}

// unmasked refuses documents that have the mask in the place of a confidential value: what a
// caller was shown is not what it wants to store.
func (s scoped) unmasked(ctx context.Context, field, kind string, document json.RawMessage) error {
	return unmasked(ctx, s.store.Confidential, field, kind, document)
}

func unmasked(ctx context.Context, confidential func(context.Context) (fairlead.Confidential, error), field, kind string, document json.RawMessage) error {
	if !mayBeMasked(document) {
		return nil
	}
	all, err := confidential(ctx)
	if err == nil && mask.Shown(all[kind], "args", document) {
		err = maskedField(field)
	}
	return err
}

// unmaskedTasks is unmasked for what the tasks of a batch have to do.
func (s scoped) unmaskedTasks(ctx context.Context, chunks []batch.Chunk) error {
	for i := range chunks {
		for _, task := range chunks[i].Tasks {
			if !mayBeMasked(task.Before) && !mayBeMasked(task.After) {
				continue
			}
			all, err := s.store.Confidential(ctx)
			if err != nil {
				return err
			}
			fields := kindsLike(all, task.Target.Type+".", "")
			if mask.Shown(mask.Within(fields, "args.before", "args"), "args", task.Before) {
				return maskedField("tasks.before")
			}
			if mask.Shown(mask.Within(fields, "args.after", "args"), "args", task.After) {
				return maskedField("tasks.after")
			}
		}
	}
	return nil
}

func maskedField(field string) error {
	return refuseField(field, `has "***" in the place of a confidential value; give the value`)
}

// mayBeMasked reports whether a document can have a mask, without asking the store.
func mayBeMasked(document json.RawMessage) bool {
	return bytes.Contains(document, []byte(mask.Masked))
}

// restoreSchedule gives a schedule back what its caller was shown as masked.
func (s scoped) restoreSchedule(ctx context.Context, sc *schedule.Schedule) error {
	alert, err := alertOfSchedule(sc.Alert)
	if err != nil || !mayBeMasked(sc.Job.Args) && !mayBeMasked(alert) {
		return err
	}
	var args, told json.RawMessage // as they are stored
	if sc.Version != 0 {
		found, err := s.store.Schedules(ctx, schedule.Filter{IDs: []int64{sc.ID}})
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0].Job.Kind == sc.Job.Kind {
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

// alertArgs are what an alert has in common with the args of the kind http.
type alertArgs struct {
	URL     *string            `json:"url"`
	Headers *map[string]string `json:"headers,omitempty"`
	Body    *json.RawMessage   `json:"body,omitempty"`
}

// alertDocument is what an alert says as the args of the kind http.
func alertDocument(url string, headers map[string]string, body json.RawMessage) (json.RawMessage, error) {
	args := alertArgs{URL: &url, Headers: &headers}
	if len(body) > 0 {
		args.Body = &body
	}
	return json.Marshal(args)
}

// alertOfSchedule is the document of the alert of a schedule; nil if there is none.
func alertOfSchedule(alert *schedule.Alert) (json.RawMessage, error) {
	if alert == nil {
		return nil, nil
	}
	return alertDocument(alert.URL, alert.Headers, alert.Body)
}

// restore puts what is stored in the place of masks, and refuses a document in which that is not
// known.
func (s scoped) restore(ctx context.Context, field, kind string, document *json.RawMessage, stored json.RawMessage) error {
	all, err := s.store.Confidential(ctx)
	if err != nil {
		return err
	}
	restored, whole := mask.Restore(all[kind], "args", *document, stored)
	if !whole {
		return maskedField(field)
	}
	*document = restored
	return nil
}
