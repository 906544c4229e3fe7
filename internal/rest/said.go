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

// Said returns an error with a text for callers. It removes the names of store operations
// before the text, and the word that marks a conflict for programs, because code and status
// already express it. Other additions are preserved.
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
