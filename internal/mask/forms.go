package mask

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// shortestEncoded is the minimum length in bytes of a value to be searched for in base64,
// where it has three encodings, and of a piece of a value to be searched for.
const shortestEncoded = 8

// formsOf returns the strings to search for to find a value. Escapes are resolved in the
// searched string instead.
func formsOf(value string) (forms []string) {
	forms = append(forms, plainForms(value)...)
	if len(value) < shortestEncoded {
		return forms
	}
	forms = append(forms, base64Forms(value)...)
	if strings.Contains(value, "://") {
		forms = append(forms, addressForms(value)...)
	}
	if scheme, credentials, ok := strings.Cut(value, " "); ok && schemes[strings.ToLower(scheme)] {
		forms = append(forms, credentialForms(strings.TrimSpace(credentials))...)
	}
	return append(forms, pieces(value)...)
}

// plainForms returns the value and its decoded versions: the searched string may have been
// decoded more often than the value is encoded.
func plainForms(value string) (forms []string) {
	if trimmed := strings.TrimSpace(value); trimmed != "" {
		value = trimmed // surrounding space is removed from headers and files
	}
	forms = append(forms, value)
	level := decoded{text: value, size: len(value)}
	for range maxDepth {
		next, changed := level.decode()
		if !changed {
			break
		}
		if len(next.text) >= min(shortest, len(value)) {
			forms = append(forms, next.text)
		}
		level = next
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && strings.Trim(value, "0123456789.eE+-") == "" {
		forms = append(forms, numberForms(number)...)
	}
	return forms
}

// numberForms returns the ways in which a program may format a number after parsing it.
func numberForms(number float64) (forms []string) {
	scientific := strconv.FormatFloat(number, 'e', -1, 64)
	for _, form := range []string{
		strconv.FormatFloat(number, 'f', -1, 64), scientific, strings.Replace(scientific, "e+", "e", 1),
		strings.ToUpper(scientific), strings.Replace(scientific, "e+", "E", 1),
	} {
		if len(form) >= shortest {
			forms = append(forms, form)
		}
	}
	return forms
}

// base64Forms returns the parts of a value's base64 encoding that do not depend on its
// position in the encoded data.
func base64Forms(value string) (forms []string) {
	for before := range 3 {
		bits := 8 * (before + len(value))
		from, to := (8*before+5)/6, bits/6 // the digits that depend only on the value
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := encoding.EncodeToString([]byte("\x00\x00"[:before] + value))[from:to]
			if n := len(forms); n == 0 || forms[n-1] != form {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// addressForms returns the parts of a URL that occur alone in errors, in responses and in
// the request of a call.
func addressForms(value string) (forms []string) {
	target, err := url.Parse(strings.TrimSpace(value))
	if err != nil {
		return nil
	}
	parts := []string{target.Host, strings.ToLower(target.Host), target.Hostname(), target.Path, target.RawQuery, target.Fragment}
	if password, ok := target.User.Password(); ok {
		parts = append(parts, password, base64.StdEncoding.EncodeToString([]byte(target.User.Username()+":"+password)))
	}
	parts = append(parts, target.User.Username())
	for _, values := range target.Query() {
		parts = append(parts, values...)
	}
	return longEnough(parts)
}

// schemes lists the schemes in headers with credentials.
var schemes = map[string]bool{"basic": true, "bearer": true, "token": true, "apikey": true}

// credentialForms returns credentials without their scheme, and parts that a target may
// have extracted from them.
func credentialForms(credentials string) []string {
	parts := []string{credentials}
	if read, err := base64.StdEncoding.DecodeString(credentials); err == nil {
		_, password, _ := strings.Cut(string(read), ":")
		parts = append(parts, string(read), password)
	}
	return longEnough(parts)
}

func longEnough(parts []string) (forms []string) {
	for _, part := range parts {
		if len(part) >= shortest {
			forms = append(forms, plainForms(part)...)
		}
	}
	return forms
}

// ends separates the pieces of a value that occur alone: lines, and the parts between
// placeholders.
var ends = regexp.MustCompile(`[\r\n]+|\{\{[^{}]*\}\}|\$\{[^{}]*\}`)

func pieces(value string) (forms []string) {
	if !strings.ContainsAny(value, "\r\n{") {
		return nil
	}
	for _, piece := range ends.Split(value, -1) {
		if len(piece) >= shortestEncoded && piece != value {
			forms = append(forms, plainForms(piece)...)
		}
	}
	return forms
}
