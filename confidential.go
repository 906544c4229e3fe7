package fairlead

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/mask"
)

// Confidential maps each kind to the paths of its jobs' confidential fields. The API, the
// command line, the console, logs and traces show "***" instead of the fields' values.
// Handlers, workers and the targets of calls receive the real values.
//
// A path is a list of plain names separated by dots, such as "args.card.number". The first
// name is args, output, progress or memo. A path applies to each element of a list. It
// matches member names case-insensitively, as encoding/json does. It covers everything below
// the field: "args.*" and "args" both cover all of args. The name * matches every member, as
// in "args.cards.*.number".
type Confidential map[string][]string

// Confider stores each kind's confidential fields. A kind's fields stay confidential even
// when no node handles the kind any longer.
type Confider interface {
	// AddConfidential adds confidential fields and removes none.
	AddConfidential(ctx context.Context, fields Confidential) error
	// SetConfidential replaces the confidential fields of a kind. With no fields, it
	// removes all of them.
	SetConfidential(ctx context.Context, kind string, fields []string) error
	// Confidential returns the confidential fields, sorted within each kind. Callers must
	// not modify the result, which they may share with others.
	Confidential(ctx context.Context) (Confidential, error)
}

// Bounds of what may be confidential.
const (
	maxConfidential = 100 // fields of a kind
	maxPath         = 200 // bytes of a path
)

// NormalizeConfidential sorts a kind's confidential fields and removes duplicates. It
// returns an *InvalidError that names the invalid fields.
func NormalizeConfidential(kind string, fields []string) ([]string, error) {
	var c complaints
	c.Name("name", kind, MaxName)
	if len(fields) > maxConfidential {
		c.Refuse("confidential", "has %d entries; at most %d are allowed: list the enclosing objects instead of single fields", len(fields), maxConfidential)
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

// SetConfidential replaces a kind's confidential fields. If a node's handlers declare
// additional fields, the node adds them when it starts. SetConfidential returns ErrInvalid
// if a field is invalid.
func (c *Client) SetConfidential(ctx context.Context, kind string, fields []string) error {
	fields, err := NormalizeConfidential(kind, fields)
	if err != nil {
		return err
	}
	return c.store.SetConfidential(ctx, kind, fields)
}

// Confidential returns each kind's confidential fields.
func (c *Client) Confidential(ctx context.Context) (Confidential, error) {
	return c.store.Confidential(ctx)
}

// Confidential returns the fields that the mux's handlers declare as confidential.
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
