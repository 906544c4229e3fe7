package cron

import "fmt"

// A SyntaxError describes why a text is not a valid expression: either the text cannot be
// parsed, or the expression would never be due.
type SyntaxError struct {
	Field    string // name of the field, such as "day of month"; empty = the whole text
	Position int    // position of the field, starting at 1
	Fields   int    // number of fields
	Part     string // invalid part of the field
	Column   int    // position of the part in the text, in bytes starting at 1
	Problem  string // description of the problem, with the allowed values
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Field != "":
		return fmt.Sprintf("%s (field %d of %d): %s %s", e.Field, e.Position, e.Fields, quote(e.Part), e.Problem)
	case e.Part != "":
		return quote(e.Part) + " " + e.Problem
	default:
		return e.Problem
	}
}

// quote truncates and quotes a part, to keep messages short.
func quote(part string) string {
	const longest = 40
	if len(part) > longest {
		return fmt.Sprintf("%q…", part[:longest])
	}
	return fmt.Sprintf("%q", part)
}
