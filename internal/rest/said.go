package rest

import (
	"errors"
	"regexp"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// operation is what a store puts before an error: the words of what it was about to do.
var operation = regexp.MustCompile(`^[a-z]+( [a-z]+)*: $`)

// said is an error as callers read it.
type said struct {
	text string
	err  error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.err }

// Said is an error as callers read it: without the names of operations of a store before
// it, and without the word by which programs know a conflict, which its code and status
// say. What else was added on the way stays.
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
