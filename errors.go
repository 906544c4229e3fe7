package fairlead

import (
	"errors"
	"strings"
)

// The few errors that callers tell apart. They come wrapped with what went
// wrong; use errors.Is.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("conflict")   // taken key, or a move that the job's state forbids
	ErrInvalid   = errors.New("invalid")    // input that can never be accepted; see InvalidError
	ErrLeaseLost = errors.New("lease lost") // the fence is no longer the job's current one
	ErrExpired   = errors.New("expired")    // an answer that came after its deadline
	ErrLimit     = errors.New("limit")      // more than a limit allows; try again later

	// ErrUnavailable means that the database cannot do this now, and may be able to
	// later: it is read-only, full, overloaded, starting, stopping or not reached, or
	// did not answer in time.
	ErrUnavailable = errors.New("the database cannot do this now; try again")
)

// InvalidError names each field that was refused and how to mend it.
// errors.Is(err, ErrInvalid) holds for it.
type InvalidError struct {
	Fields []FieldError
}

// FieldError is one refused field.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// mostRefused bounds how many fields an error names: the caller who sends ten thousand
// jobs with the same mistake is helped by the first of them.
const mostRefused = 100

// Invalid is the *InvalidError of some fields, or nil if there are none.
func Invalid(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: fields[:min(len(fields), mostRefused)]}
}

func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = f.Field + ": " + f.Message
	}
	return "invalid: " + strings.Join(lines, "; ")
}

// Is makes every InvalidError an ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }
