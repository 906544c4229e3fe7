package mask

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// shortestEncoded is how many bytes a value needs to be looked for in base64, in which it has
// three spellings, and how many a piece of a value needs to be looked for.
const shortestEncoded = 8

// formsOf returns the texts to search for so that a value is found, except that escapes are
// resolved in the text that is searched.
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

// plainForms are the value, and what it decodes to: the text that is searched may have been
// decoded more often than the value is encoded.
func plainForms(value string) (forms []string) {
	if trimmed := strings.TrimSpace(value); trimmed != "" {
		value = trimmed // headers and files lose the space around it
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

// numberForms are a number as a target may write it that has read it.
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

// base64Forms are what is certain of a value in base64, wherever the value begins in what was
// encoded.
func base64Forms(value string) (forms []string) {
	for before := range 3 {
		bits := 8 * (before + len(value))
		from, to := (8*before+5)/6, bits/6 // the digits that are made of the value alone
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := encoding.EncodeToString([]byte("\x00\x00"[:before] + value))[from:to]
			if n := len(forms); n == 0 || forms[n-1] != form {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// addressForms are the parts of a URL that stand alone in errors, in answers and in what a call
// was sent with.
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

// schemes begin the value of a header that has credentials.
var schemes = map[string]bool{"basic": true, "bearer": true, "token": true, "apikey": true}

// credentialForms are credentials without their scheme, and what a target may have read of them.
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

// ends separates the pieces of a value that occur alone: lines, and what stands between
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
