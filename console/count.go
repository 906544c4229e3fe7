package console

// count is a number of rows, with a link to them.
type count struct {
	N    int64
	More bool // whether counting stopped at N and there are more
	Href string
	Tone string // state that determines the color, or empty
}

// Count returns the count itself, for templates with types that embed it.
func (c count) Count() count { return c }

// countText formats the number; a plus sign marks a lower bound.
func (v *visit) countText(c count) string {
	if c.More {
		return v.Num(c.N) + "+"
	}
	return v.Num(c.N)
}

// CountOf calls countText, for templates that have a count.
func (v *visit) CountOf(c count) string { return v.countText(c) }

// CountText calls countText, for templates with a count as their data.
func (s *shown) CountText() string { return s.countText(s.Data.(count)) }
