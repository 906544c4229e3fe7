package interleave

import (
	"regexp"
	"slices"
	"strings"
)

// An Exception is a result that no serial order has, and that is right all the same.
type Exception struct {
	Name string
	Why  string

	pair  func(p Pair) bool
	lines *regexp.Regexp // matches every line in which the states differ, if they may differ
	told  bool           // whether the results may differ too
	drift *regexp.Regexp // matches the corrections of the recount, if there may be any
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
	{
		Name: "a job that is retried before its place has gone to the next",
		Why: "What frees a place at a gate admits the next job in a transaction of its own (decision 7). A job that is retried in between stands in line " +
			"with the others, and goes first if its order says so. In both serial orders the next job has the place already.",
		pair:  func(p Pair) bool { return either("retry")(p) && !either("widen the gate")(p) },
		lines: regexp.MustCompile(`^(admitted|parked|ready) `),
	},
	{
		Name: "a claim that passes over a job",
		Why: "A claim does not wait for a transaction that holds a job, but takes the next one (`skip locked`), here the only one for which the cap has room. " +
			"In both serial orders, the first one is free.",
		pair: func(p Pair) bool {
			return p.Subject.Name == "two ready at a cap" && either("claim", "claim all", "claim from the spare queue")(p)
		},
		lines: regexp.MustCompile(`^(job|ready|running) `),
		told:  true,
	},
	{
		Name: "a run that another transaction holds during a change of limits",
		Why: "A change of limits counts the runs again, but does not wait for a transaction that holds one: all claims would wait too. " +
			"The process that made the change counts such a run a second later (`sqlstore.Reholding`). Here, the recount stands for that second.",
		pair:  either("limit the kind", "lower the cap", "raise the cap", "remove the limit"),
		drift: regexp.MustCompile(`^(kind|tenant) \w+ counts \d, found \d$`),
	},
}

// named reports whether the actors of a pair have these names, in either order.
func named(a, b string) func(Pair) bool {
	return func(p Pair) bool {
		first, second := p.Actors[0].Name, p.Actors[1].Name
		return strings.HasPrefix(first, a) && strings.HasPrefix(second, b) || strings.HasPrefix(first, b) && strings.HasPrefix(second, a)
	}
}

// either reports whether an actor of a pair has one of these names.
func either(names ...string) func(Pair) bool {
	return func(p Pair) bool {
		return slices.Contains(names, p.Actors[0].Name) || slices.Contains(names, p.Actors[1].Name)
	}
}

// excuse returns the exception that explains how a take differs from one of the accepted
// takes, or nil.
func excuse(p Pair, t *take, accepted []*take) *Exception {
	if t.wrong() != "" {
		return nil
	}
	for i := range exceptions {
		e := &exceptions[i]
		if !e.pair(p) || t.drift != "" && (e.drift == nil || !e.drift.MatchString(t.drift)) {
			continue
		}
		for _, other := range accepted {
			if (e.told || t.results == other.results) && e.explains(without(t.state, other.state)) && e.explains(without(other.state, t.state)) {
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
