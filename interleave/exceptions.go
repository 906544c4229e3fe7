package interleave

import (
	"regexp"
	"strings"
)

// An Exception is a result that no serial order has, and that is right all the same.
type Exception struct {
	Name string
	Why  string

	pair  func(p Pair) bool
	lines *regexp.Regexp // matches every line in which the states differ; nil: the states are equal
}

// Exceptions returns all exceptions.
func Exceptions() []Exception { return exceptions }

var exceptions = []Exception{
	{
		Name: "a share for a run that has ended",
		Why: "Steer grants the shares of a sweep without waiting for checkpoints. If a run saves its last checkpoint in between, the share still names the fence of that run. " +
			"The shard has ended, so no run reads the share.",
		pair:  named("steer the sweep", "last checkpoint"),
		lines: regexp.MustCompile(`^shard `),
	},
}

// named reports whether the actors of a pair have these names, in either order.
func named(a, b string) func(Pair) bool {
	return func(p Pair) bool {
		first, second := p.Actors[0].Name, p.Actors[1].Name
		return strings.HasPrefix(first, a) && strings.HasPrefix(second, b) || strings.HasPrefix(first, b) && strings.HasPrefix(second, a)
	}
}

// excuse returns the exception that explains how a take differs from one of the accepted
// takes, or nil.
func excuse(p Pair, t *take, accepted []*take) *Exception {
	for i := range exceptions {
		e := &exceptions[i]
		if !e.pair(p) {
			continue
		}
		for _, other := range accepted {
			if t.results == other.results && e.explains(without(t.state, other.state)) && e.explains(without(other.state, t.state)) {
				return e
			}
		}
	}
	return nil
}

func (e *Exception) explains(lines state) bool {
	for _, line := range lines {
		if e.lines == nil || !e.lines.MatchString(line) {
			return false
		}
	}
	return true
}
