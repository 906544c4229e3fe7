package httpcall

import (
	"net/url"
	"strings"
	"syscall"

	"github.com/fairlead-io/fairlead/internal/descriptors"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// masker hides the secrets of one call, however they are written, in what is kept of it: a target
// may well repeat them.
type masker struct{ mask.Values }

func newMasker(secrets []string) *masker { return &masker{mask.Of(secrets...)} }

// error returns an error without secrets. What remains within reach of errors.Is is only that
// the process has no file descriptors left.
func (m *masker) error(err error) error {
	text := err.Error()
	hidden := m.Text(text)
	switch {
	case hidden == text:
		return err
	case descriptors.Exhausted(err):
		return &maskedError{hidden, syscall.EMFILE}
	}
	return &maskedError{hidden, nil}
}

// maskedError is an error whose text had secrets.
type maskedError struct {
	text string
	err  error // may be nil
}

func (e *maskedError) Error() string { return e.text }

// Unwrap is what may be known of the error.
func (e *maskedError) Unwrap() error { return e.err }

// shownURL is a URL without its user part and what looks secret in its query.
func shownURL(target *url.URL) string {
	shown := *target
	shown.User = nil
	parts := strings.Split(shown.RawQuery, "&")
	for i, part := range parts {
		name, _, valued := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); valued && (err != nil || mask.LooksSecret(decoded)) {
			parts[i] = name + "=" + mask.Masked
		}
	}
	shown.RawQuery = strings.ReplaceAll(strings.Join(parts, "&"), url.QueryEscape(mask.Masked), mask.Masked)
	return shown.String()
}
