package httpcall

import (
	"net/url"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead/internal/descriptors"
)

// mask is what is shown instead of a secret.
const mask = "***"

// masker hides the secrets of one call, however they are written, in what is
// kept of it: a target may well repeat them.
type masker struct {
	forms    []string // longest first
	replacer *strings.Replacer
}

func newMasker(secrets []string) *masker {
	m := &masker{}
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := encodeJSON(secret)
		m.forms = append(m.forms, secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1:len(quoted)-1])
	}
	if len(m.forms) == 0 {
		return m
	}
	slices.SortFunc(m.forms, func(a, b string) int { return len(b) - len(a) })
	m.forms = slices.Compact(m.forms)
	var pairs []string
	for _, form := range m.forms {
		pairs = append(pairs, form, mask)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

func (m *masker) text(text string) string {
	if m.replacer == nil { // there is nothing to hide
		return text
	}
	return m.replacer.Replace(text)
}

// cutText is text for what ends too early: where it ends may be within a secret.
func (m *masker) cutText(text string) string {
	longest := 0
	for _, form := range m.forms {
		for n := min(len(form)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, form[:n]) {
				longest = n
				break
			}
		}
	}
	return m.text(text[:len(text)-longest])
}

// beginning hides secrets in as much of a text as is needed to keep keptBody bytes of it,
// and reports whether that is less than all. A text may be large, and each of its bytes
// may have to be compared with each secret.
func (m *masker) beginning(text string) (hidden string, cut bool) {
	keep := keptBody
	for _, form := range m.forms[:min(1, len(m.forms))] { // the longest
		keep += len(form)
	}
	keep += utf8.UTFMax // so that a character which is cut in two is not among what is kept
	if len(text) <= keep {
		return m.text(text), false
	}
	return m.cutText(text[:keep]), true
}

// error returns an error without secrets. What remains within reach of errors.Is is only that
// the process has no file descriptors left.
func (m *masker) error(err error) error {
	text := err.Error()
	hidden := m.text(text)
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

// secretNames are parts of the names of headers and of parts of a query that
// hold secrets.
var secretNames = []string{"auth", "cookie", "token", "secret", "password", "passwd", "signature", "api-key", "apikey", "api_key", "access-key", "access_key", "credential"}

// looksSecret reports whether what has this name may be a secret.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	if name == "key" || name == "sig" || name == "pwd" {
		return true
	}
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// shownURL is a URL without its user part and what looks secret in its query.
func shownURL(target *url.URL) string {
	shown := *target
	shown.User = nil
	parts := strings.Split(shown.RawQuery, "&")
	for i, part := range parts {
		name, _, valued := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); valued && (err != nil || looksSecret(decoded)) {
			parts[i] = name + "=" + mask
		}
	}
	shown.RawQuery = strings.ReplaceAll(strings.Join(parts, "&"), url.QueryEscape(mask), mask)
	return shown.String()
}
