package rest

import (
	"errors"
	"regexp"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// operation matches the prefix that a store adds to an error: the name of the failed
// operation.
var operation = regexp.MustCompile(`^[a-z]+( [a-z]+)*: $`)

// said is an error with a text for callers.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.err }

// Said returns err with an error text suitable for callers. It strips the names of store
// operations from the start of the text. It also strips the text of ErrConflict from the end,
// because the error code and the HTTP status already express it. It preserves all other
// wrapping text.
func Said(err error) error {
	text := err.Error()
	for inner := errors.Unwrap(err); inner != nil && errors.Unwrap(inner) != nil; inner = errors.Unwrap(inner) {
		before, found := strings.CutSuffix(text, inner.Error())
		if !found || !operation.MatchString(before) {
			break
		}
		text = inner.Error()
	}
	if reason, found := strings.CutSuffix(text, fairlead.ErrConflict.Error()); found && !operation.MatchString(reason) {
		text = strings.TrimSuffix(reason, ": ")
	}
	if text == err.Error() || text == "" {
		return err
	}
	return said{text: text, err: err}
}
