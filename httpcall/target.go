package httpcall

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// target is where a call goes. Its origin is fixed; its path and query may be
// filled in.
type target struct {
	origin string // scheme, user, host and port
	rest   template
}

var errNoURL = errors.New("must be an absolute http or https URL")

// parseTarget reads a URL.
func parseTarget(text string) (target, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if scheme = strings.ToLower(scheme); !found || scheme != "http" && scheme != "https" {
		return target{}, errNoURL
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	if strings.Contains(authority, "{{") || strings.Contains(authority, "${") {
		return target{}, errors.New("contains a placeholder or a reference in its host; only the path and the query may contain them")
	}
	if strings.Contains(rest, "#") {
		return target{}, errors.New("has a fragment (after #), which is never sent; remove it")
	}
	origin := scheme + "://" + authority
	if parsed, err := url.Parse(origin); err != nil || parsed.Hostname() == "" {
		return target{}, errNoURL
	}
	filled, err := parseTemplate(rest[end:])
	if err != nil {
		return target{}, err
	}
	for i, p := range filled {
		if p.sort == literal {
			filled[i].text = spellOut(p.text)
		}
	}
	t := target{origin: origin, rest: filled}
	return t, t.checkPath()
}

// spellOut escapes what cannot stand in a URL as it is. With a single such
// character in a path, Go would write the whole of it anew, and a slash that was
// filled in with it.
func spellOut(text string) string {
	const fine = tokenCharacters + "(),/:;=?@[]"
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; c != '^' && c != '`' && c != '|' && strings.IndexByte(fine, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// checkPath refuses secrets in the path, which is shown in errors and logs.
func (t target) checkPath() error {
	for _, p := range t.rest {
		switch {
		case p.sort == literal && strings.Contains(p.text, "?"):
			return nil
		case p.sort == secretReference:
			return errors.New("refers to a secret in its path, which appears in errors and logs; put it in the query or, better, in a header")
		case p.text == "callback_token":
			return errors.New("contains {{callback_token}} in its path, which appears in errors and logs; put it in the query or in a header")
		}
	}
	return nil
}

// render is the URL, filled in. What is filled in stays within its part of the
// path: it cannot lead elsewhere on the target.
func (t target) render(from filler) (*url.URL, error) {
	rest, err := t.rest.render(&urlDialect{}, from, maxURL)
	if err != nil {
		return nil, err
	}
	parsed, err := url.Parse(t.origin + rest)
	if err != nil {
		return nil, errNoURL // the error of the parser would show the URL
	}
	if t.rest.plain() {
		return parsed, nil
	}
	if path, _, _ := strings.Cut(rest, "?"); parsed.EscapedPath() != path {
		return nil, errNoURL // it would not be sent as it was filled in
	}
	for part := range strings.SplitSeq(parsed.EscapedPath(), "/") {
		if part == "." || part == ".." {
			return nil, fmt.Errorf("contains the path segment %q after placeholder substitution, which changes the path; use a different value", part)
		}
	}
	return parsed, nil
}

// address names what a URL calls as host and port.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// address names what is called as host and port.
func (t target) address() string {
	parsed, err := url.Parse(t.origin)
	if err != nil {
		return t.origin // parseTarget refuses it
	}
	return address(parsed)
}

// SameTarget reports whether two URLs certainly have the same scheme, host and port. If it
// returns true, data stored for one URL may be sent to the other.
func SameTarget(one, other string) bool {
	a, err := parseTarget(one)
	if err != nil {
		return false
	}
	b, err := parseTarget(other)
	return err == nil && a.scheme() == b.scheme() && a.address() == b.address()
}

// scheme is http or https.
func (t target) scheme() string {
	scheme, _, _ := strings.Cut(t.origin, "://")
	return scheme
}
