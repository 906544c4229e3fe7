package fairlead

import (
	"errors"
	"strings"
)

// Errors that callers distinguish. They are returned wrapped with details; test for
// them with errors.Is.
var (
	ErrNotFound  = errors.New("not found")  // the job or other object does not exist
	ErrConflict  = errors.New("conflict")   // the key is taken, or the object's state forbids the operation
	ErrInvalid   = errors.New("invalid")    // the input is not valid and must be changed; see InvalidError
	ErrLeaseLost = errors.New("lease lost") // the fence is not the job's current one
	ErrExpired   = errors.New("expired")    // the answer came after its deadline
	ErrLimit     = errors.New("limit")      // the request exceeds a limit; try again later

	// ErrUnavailable means that the database cannot serve the request now but may be able
	// to later: it is read-only, full, overloaded, starting, stopping or unreachable, or
	// it did not respond in time.
	ErrUnavailable = errors.New("the database is unavailable; try again")
)

// InvalidError lists the invalid fields of an input and explains how to fix each of them.
// errors.Is matches it with ErrInvalid.
type InvalidError struct {
	Fields []FieldError // the invalid fields, at least one
}

// FieldError describes one invalid field.
type FieldError struct {
	Field   string `json:"field"`   // name of the field, such as "job.priority"
	Message string `json:"message"` // description of the problem
}

// mostRefused bounds how many fields an error names: the caller who sends ten thousand
// jobs with the same mistake is helped by the first of them.
const mostRefused = 100

// Invalid returns an *InvalidError that lists fields. It returns nil if there are no fields.
func Invalid(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: fields[:min(len(fields), mostRefused)]}
}

// Error returns the name and message of each invalid field.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = f.Field + ": " + f.Message
	}
	return "invalid: " + strings.Join(lines, "; ")
}

// Is reports whether target is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }
