package fairlead

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/mask"
)

// Confidential is which fields of jobs are confidential: paths, by kind. The API, the command
// line, the console, logs and traces show "***" in their place; handlers, workers and the
// targets of calls get what is there.
//
// A path is plain names with dots between them, of which the first is args, output,
// progress or memo: "args.card.number". It goes into each element of a list, and finds
// members whatever their case, as encoding/json does. What it leads to is confidential with
// all that is in it; "args.*" and "args" are all of args. A name * is every member:
// "args.cards.*.number".
type Confidential map[string][]string

// Confider keeps which fields of jobs are confidential. Kinds stay confidential when no node
// handles them any more.
type Confider interface {
	// AddConfidential makes fields confidential, beside those that are.
	AddConfidential(ctx context.Context, fields Confidential) error
	// SetConfidential makes these fields of a kind confidential, and no others; none: no
	// field is.
	SetConfidential(ctx context.Context, kind string, fields []string) error
	// Confidential returns what is confidential, the fields of each kind in order. Callers
	// must not change it: others may have the same.
	Confidential(ctx context.Context) (Confidential, error)
}

// Bounds of what may be confidential.
const (
	maxConfidential = 100 // fields of a kind
	maxPath         = 200 // bytes of a path
)

// NormalizeConfidential puts the fields of a kind in order, each once, and returns an
// *InvalidError that names what cannot be accepted.
func NormalizeConfidential(kind string, fields []string) ([]string, error) {
	var c complaints
	c.Name("name", kind, MaxName)
	if len(fields) > maxConfidential {
		c.Refuse("confidential", "has %d entries; at most %d are allowed: name the objects that contain the fields", len(fields), maxConfidential)
	}
	for _, field := range fields {
		c.Name("confidential", field, maxPath)
		names := strings.Split(field, ".")
		switch {
		case !slices.Contains(mask.Documents, names[0]):
			c.Refuse("confidential", "contains %q; a path must begin with one of %s", field, strings.Join(mask.Documents, ", "))
		case slices.Contains(names, ""):
			c.Refuse("confidential", "contains %q, which has an empty name; separate names with single dots, as in args.card.number", field)
		}
	}
	fields = slices.Clone(fields)
	slices.Sort(fields)
	return slices.Compact(fields), Invalid(c.Found...)
}

// SetConfidential makes these fields of a kind confidential, and no others. Nodes whose
// handlers declare more add them when they start. It fails with ErrInvalid.
func (c *Client) SetConfidential(ctx context.Context, kind string, fields []string) error {
	fields, err := NormalizeConfidential(kind, fields)
	if err != nil {
		return err
	}
	return c.store.SetConfidential(ctx, kind, fields)
}

// Confidential returns which fields of jobs are confidential.
func (c *Client) Confidential(ctx context.Context) (Confidential, error) {
	return c.store.Confidential(ctx)
}

// Confidential is what the handlers of the mux declare to be confidential.
func (m *Mux) Confidential() Confidential {
	all := Confidential{}
	for kind, entry := range m.entries {
		if len(entry.Options.Confidential) > 0 {
			all[kind] = entry.Options.Confidential
		}
	}
	return all
}

// discreet is a handler whose errors do not show what is confidential of their job: they are
// logged, traced and stored. A node knows the fields of all kinds. Elsewhere, as in tests of
// handlers, those that the handler declares are masked.
type discreet struct {
	handler Handler
	fields  []string
}

// Work runs the handler.
func (d discreet) Work(ctx context.Context, job *Job) error {
	args := job.Args // the handler may change the job
	err := d.handler.Work(ctx, job)
	if err == nil {
		return nil
	}
	text := err.Error()
	hide := mask.HiderOf(ctx)
	if hide == nil {
		hide = mask.Secrets(d.fields, mask.Job{Args: args}).Text
	}
	masked := hide(text)
	if masked == text {
		return err
	}
	return &maskedError{text: masked, err: err}
}

// maskedError is an error whose text does not show what is confidential.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

// Unwrap lets outcomes and causes be found.
func (e *maskedError) Unwrap() error { return e.err }
