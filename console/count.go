package console

// count is a number of rows, and where these rows are.
type count struct {
	N    int64
	More bool // there are more: counting stopped at N
	Href string
	Tone string // how it is coloured: a state, or empty
}

// Count is the number itself, for templates of what embeds one.
func (c count) Count() count { return c }

// countText writes the number; one that stopped at a bound has a plus.
func (v *visit) countText(c count) string {
	if c.More {
		return v.Num(c.N) + "+"
	}
	return v.Num(c.N)
}

// CountOf is countText for templates that have a count.
func (v *visit) CountOf(c count) string { return v.countText(c) }

// CountText is countText for templates.
func (s *shown) CountText() string { return s.countText(s.Data.(count)) }
