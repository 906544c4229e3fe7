package rest

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/fairlead-io/fairlead"
)

// problem is an error response as defined by RFC 9457.
type problem struct {
	Type   string                `json:"type"`
	Title  string                `json:"title"`
	Status int                   `json:"status"`
	Detail string                `json:"detail,omitempty"`
	Errors []fairlead.FieldError `json:"errors,omitempty"`
}

// Error is an error in the HTTP request itself rather than in an API method.
type Error struct {
	Status int
	Detail string
}

func (e *Error) Error() string { return e.Detail }

// InvalidField returns an *InvalidError for one field of a request.
func InvalidField(field, message string) error {
	return fairlead.Invalid(fairlead.FieldError{Field: field, Message: message})
}

// statuses maps the errors that callers distinguish to HTTP statuses. The first match
// counts.
var statuses = []struct {
	err    error
	status int
}{
	{fairlead.ErrInvalid, http.StatusBadRequest},
	{fairlead.ErrNotFound, http.StatusNotFound},
	{fairlead.ErrConflict, http.StatusConflict},
	{fairlead.ErrLeaseLost, http.StatusConflict},
	{fairlead.ErrExpired, http.StatusGone},
	{fairlead.ErrLimit, http.StatusTooManyRequests},
	{fairlead.ErrUnavailable, http.StatusServiceUnavailable},
}

// problemOf converts an error to a problem. It hides the text of errors that callers cannot
// distinguish, because it may contain confidential details.
func problemOf(err error) problem {
	p := problem{Type: "about:blank", Status: http.StatusInternalServerError}
	for _, known := range statuses {
		if errors.Is(err, known.err) {
			p.Status, p.Detail = known.status, Said(err).Error()
			break
		}
	}
	var invalid *fairlead.InvalidError
	if errors.As(err, &invalid) {
		p.Errors, p.Detail = invalid.Fields, "the request is invalid"
	}
	var own *Error
	if errors.As(err, &own) {
		p.Status, p.Detail = own.Status, own.Detail
	}
	switch {
	case p.Status == http.StatusInternalServerError:
		p.Detail = "internal error; see the server log"
	case own == nil && p.Status == http.StatusServiceUnavailable:
		p.Detail = fairlead.ErrUnavailable.Error() // without the database's message
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// Refuse writes err as a problem document.
func Refuse(w http.ResponseWriter, err error) {
	p := problemOf(err)
	body, encodeErr := json.Marshal(p)
	if encodeErr != nil {
		body = []byte("{}") // strings and numbers always encode
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}
