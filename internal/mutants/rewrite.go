package main

import (
	"cmp"
	"slices"
	"strings"
)

// switched is the package that the modified sources call.
const switched = "github.com/fairlead-io/fairlead/internal/mutants/active"

// rewritten returns the source with switches for all places.
func (s *source) rewritten() string {
	if len(s.wraps) == 0 {
		return s.text
	}
	type insertion struct {
		at     int
		closes bool
		other  int // other end of the wrapped part
		order  int
		text   string
	}
	var all []insertion
	for i, w := range s.wraps {
		all = append(all, insertion{w.from, false, w.to, i, w.before}, insertion{w.to, true, w.from, i, w.after})
	}
	// Outer wraps open first and close last.
	slices.SortFunc(all, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.closes != b.closes:
			if a.closes {
				return -1
			}
			return 1
		case a.other != b.other:
			return cmp.Compare(b.other, a.other)
		case a.closes:
			return cmp.Compare(b.order, a.order)
		}
		return cmp.Compare(a.order, b.order)
	})
	var out strings.Builder
	done := 0
	for _, in := range all {
		out.WriteString(s.text[done:in.at])
		out.WriteString(in.text)
		done = in.at
	}
	out.WriteString(s.text[done:])
	return s.importing(out.String())
}

// importing adds the import to the line of the package clause, so that line numbers stay
// the same.
func (s *source) importing(text string) string {
	end := s.files.Position(s.parsed.Name.End()).Offset
	return text[:end] + `; import "` + switched + `"` + text[end:]
}
