package scope

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// AddConfidential marks fields as confidential.
func (s Restricted) AddConfidential(ctx context.Context, fields fairlead.Confidential) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.AddConfidential(ctx, fields)
}

// SetConfidential replaces the confidential fields of a kind.
func (s Restricted) SetConfidential(ctx context.Context, kind string, fields []string) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.SetConfidential(ctx, kind, fields)
}

// Confidential returns the confidential fields. All callers may see the list, because
// masked responses show it anyway.
func (s Restricted) Confidential(ctx context.Context) (fairlead.Confidential, error) {
	return s.store.Confidential(ctx)
}

// unmasked rejects documents with a mask in place of a confidential value: the caller has
// sent back a masked value, which must not be stored.
func (s Restricted) unmasked(ctx context.Context, field, kind string, document json.RawMessage) error {
	return RefuseMasked(ctx, s.store.Confidential, field, kind, document)
}

func RefuseMasked(ctx context.Context, confidential func(context.Context) (fairlead.Confidential, error), field, kind string, document json.RawMessage) error {
	if !MayBeMasked(document) {
		return nil
	}
	all, err := confidential(ctx)
	if err == nil && mask.Shown(mask.Fields(all, kind, document), "args", document) {
		err = maskedField(field)
	}
	return err
}

// unmaskedTasks checks the parameters of a batch's tasks with unmasked.
func (s Restricted) unmaskedTasks(ctx context.Context, chunks []batch.Chunk) error {
	for i := range chunks {
		for _, task := range chunks[i].Tasks {
			if !MayBeMasked(task.Before) && !MayBeMasked(task.After) {
				continue
			}
			all, err := s.store.Confidential(ctx)
			if err != nil {
				return err
			}
			fields := mask.FieldsLike(all, task.Target.Type+".", "")
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
	return rest.InvalidField(field, `contains "***" in place of a confidential value; enter the value`)
}

// MayBeMasked reports whether a document can contain a mask, without reading the store.
func MayBeMasked(document json.RawMessage) bool {
	return bytes.Contains(document, []byte(mask.Masked))
}
