// Package cause determines which errors have the same cause, from their texts.
package cause

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// normalisedLength is the number of characters of an error that are compared.
const normalisedLength = 300

// noErrorText stands for an empty error text.
const noErrorText = "–"

// particulars lists the parts in which errors of the same cause differ, in the order of the
// search: an address contains numbers, and a time contains more than numbers.
var particulars = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>)\]]*[^\s"'<>)\]:,.;]`), "URL"},
	{regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`), "ADDRESS"},
	{regexp.MustCompile(`"(\\.|[^"\\])*"`), `"…"`},
	{regexp.MustCompile("`[^`]*`"), "`…`"},
	{regexp.MustCompile(`(^|[\s(\[=:,])'[^']*'`), `$1'…'`},
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "ID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d:?\d\d))?)?`), "TIME"},
	{regexp.MustCompile(`\[[0-9A-Fa-f:]*::?[0-9A-Fa-f:.]*\](:\d+)?`), "ADDRESS"},
	{regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`), "ADDRESS"},
	{regexp.MustCompile(`\b[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*:\d{2,5}\b`), "ADDRESS"},
	{regexp.MustCompile(`\b0x[0-9A-Fa-f]+\b`), "ID"},
	{regexp.MustCompile(`\b[0-9A-Fa-f]*(\d[A-Fa-f]|[A-Fa-f]\d)[0-9A-Fa-f]{6,}\b`), "ID"},
	{regexp.MustCompile(`\d+([.,]\d+)*`), "N"},
}

// Of returns the part of an error text that is the same for all errors with the same cause:
// the first line without numbers, IDs, quoted strings, times and addresses. If text is
// already the result of Of, Of returns it unchanged.
func Of(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) > 4*normalisedLength { // the following steps take time in proportion to the length
		line = string([]rune(line)[:4*normalisedLength])
	}
	// A replacement may be a part of another particular, as N is of N://x. Each pass removes a
	// digit, a mark or a quoted character, so the loop ends.
	for before := ""; line != before; {
		before = line
		line = withoutParticulars(line)
	}
	if line == "" {
		return noErrorText
	}
	return line
}

// withoutParticulars replaces the particulars in one pass, and truncates the result.
func withoutParticulars(line string) string {
	for _, p := range particulars {
		line = p.pattern.ReplaceAllString(line, p.instead)
	}
	if runes := []rune(line); len(runes) > normalisedLength {
		return string(runes[:normalisedLength]) + "…"
	}
	return line
}
