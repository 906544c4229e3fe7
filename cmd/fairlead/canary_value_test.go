package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// The marks of values. Each part of a confidential value that may occur alone contains the
// first one. The second one marks values in the same spellings that are not confidential.
const (
	secretMark = "magpie"
	openMark   = "wagtail"
)

// openNest precedes a value that may be truncated: the rest of a confidential value may be too
// short to contain its mark.
const openNest = "nest:"

// hostileSecrets are confidential values that change their spelling wherever they are written.
var hostileSecrets = []string{
	`magpie-a "magpie-b" 'magpie-c'`,
	"magpie-a\nmagpie-line-b\r\n\tmagpie-tab-c",
	`magpie-a\magpie-b\\magpie-c\u0041`,
	"magpie-a magpie-b+magpie-c&x=magpie-d%41%zz",
	"magpie<b>-münchen-😀-magpie\u2028",
	`{"magpie":"of \"JSON magpie\""}`,
	strings.Repeat("magpie-long-", 40),
}

// twin returns a value in the same spelling that is not confidential.
func twin(secret string) string { return strings.ReplaceAll(secret, secretMark, openMark) }

// literal encodes a value as JSON.
func literal(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// spellings write a value as targets, programs and errors do.
var spellings = map[string]func(string) string{
	"plain":        func(value string) string { return value },
	"JSON":         func(value string) string { return literal(value) },
	"JSON twice":   func(value string) string { return literal(literal(value)) },
	"quoted":       strconv.Quote,
	"quoted ASCII": strconv.QuoteToASCII,
	"escaped": func(value string) string {
		var out strings.Builder
		for _, unit := range utf16.Encode([]rune(value)) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
		return out.String()
	},
	"query": url.QueryEscape,
	"path":  url.PathEscape,
	"every byte": func(value string) string {
		var out strings.Builder
		for i := range len(value) {
			fmt.Fprintf(&out, "%%%02X", value[i])
		}
		return out.String()
	},
	"HTML":             html.EscapeString,
	"base64":           func(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) },
	"base64 of a user": func(value string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + value)) },
	"base64 of a URL":  func(value string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + value)) },
}

// allSpellings returns a string with the value in all spellings.
func allSpellings(value string) string {
	var out strings.Builder
	for _, spell := range spellings {
		out.WriteString(spell(value) + " ")
	}
	return out.String()
}

// begins truncates an error to the longest that a program may report.
func begins(text string) string { return strings.ToValidUTF8(text[:min(len(text), 8<<10)], "") }

// encodedMarks returns the parts of a mark in base64 that do not depend on its neighbors.
func encodedMarks(mark string) (marks []string) {
	for before := range 3 {
		from, to := (8*before+5)/6, 8*(before+len(mark))/6
		marks = append(marks, base64.StdEncoding.EncodeToString([]byte("\x00\x00"[:before] + mark + "\x00\x00"))[from:to])
	}
	return marks
}

// shownMarks lists the strings by which a reader recognizes a value, by the mark of the value.
var shownMarks = map[string][]string{
	secretMark: append(encodedMarks(secretMark), openNest+secretMark[:1]),
	openMark:   encodedMarks(openMark),
}

// finds returns where a text shows a value with the mark to a reader who decodes it, and what
// the reader has then decoded. The position is negative if the text does not show it.
func finds(text, mark string) (at int, decoded string) {
	for range 6 {
		if at = strings.Index(text, mark); at >= 0 {
			return at, text
		}
		for _, shown := range shownMarks[mark] {
			if at = strings.Index(text, shown); at >= 0 {
				return at, text
			}
		}
		next := unescaped(text)
		if next == text {
			break
		}
		text = next
	}
	return -1, ""
}

// unescaped resolves the escapes of JSON, Go, URLs and HTML in a text once. Bytes that are not ASCII
// do not matter to marks.
func unescaped(text string) string {
	text = html.UnescapeString(text)
	if !strings.ContainsAny(text, `\%`) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		digits, from := 0, i+2 // of the number of a character
		switch next := text[min(i+1, len(text)-1)]; {
		case text[i] == '%':
			digits, from = 2, i+1
		case text[i] != '\\':
		case next == 'u':
			digits = 4
		case next == 'x':
			digits = 2
		default: // of a quote or a backslash, as far as marks are concerned
			i++
			out = append(out, next)
			continue
		}
		if digits > 0 && from+digits <= len(text) {
			if code, err := strconv.ParseUint(text[from:from+digits], 16, 32); err == nil {
				out = append(out, byte(min(code, utf8.RuneSelf)))
				i = from + digits - 1
				continue
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}

// The reader of the test finds every value in every spelling, also within another one, or the
// test would prove nothing.
func TestTheReaderFindsMarkedValuesInEverySpelling(t *testing.T) {
	for _, secret := range hostileSecrets {
		for mark, value := range map[string]string{secretMark: secret, openMark: twin(secret)} {
			for inner, spell := range spellings {
				for outer, around := range spellings {
					if strings.HasPrefix(outer, "base64") && inner != "plain" {
						continue // the product does not look for these either
					}
					if text := around("{" + spell(value) + "}"); !found(text, mark) {
						t.Errorf("%q as %s within %s is not found: %s", value, inner, outer, text)
					}
				}
			}
		}
	}
	for _, text := range []string{"", "***", `{"secret":"***","note":"` + openMark + `"}`, openNest + "***", openNest} {
		if found(text, secretMark) {
			t.Errorf("%q shows a secret", text)
		}
	}
	if !found(`xxx","s":"`+openNest+secretMark[:2], secretMark) {
		t.Error("the beginning of a value is not found")
	}
}

// found reports whether a text shows a value with the mark.
func found(text, mark string) bool {
	at, _ := finds(text, mark)
	return at >= 0
}
