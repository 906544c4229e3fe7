package cron

import "fmt"

// SyntaxError is a text that cannot be understood, or that would never be due.
type SyntaxError struct {
	Field    string // name of the field, such as "day of month"; empty: the whole text
	Position int    // of the field, from 1
	Fields   int    // how many there are
	Part     string // what is wrong in it
	Column   int    // of the part in the text, in bytes from 1
	Problem  string // what is wrong with it, and what is allowed
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

// quote keeps messages short, whatever they are about.
func quote(part string) string {
	const longest = 40
	if len(part) > longest {
		return fmt.Sprintf("%q…", part[:longest])
	}
	return fmt.Sprintf("%q", part)
}
