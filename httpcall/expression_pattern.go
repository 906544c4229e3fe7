package httpcall

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Bounds of a regular expression. Few bytes can stand for very many states, as in
// (.{1000}){10}, and each letter of a text may have to be compared with all of them.
const (
	maxPattern       = 500 // bytes
	maxPatternStates = 1000
)

// matcher is a regular expression that is small enough.
type matcher struct {
	*regexp.Regexp
	states int
}

// compilePattern compiles a regular expression, or refuses a large one.
func compilePattern(text string) (*matcher, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("has a regular expression of %d bytes; at most %d are allowed", len(text), maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, errors.New("has an invalid regular expression after matches")
	}
	states := patternStates(tree)
	if states > maxPatternStates {
		return nil, fmt.Errorf("has a regular expression with more than %d states; use fewer repetitions", maxPatternStates)
	}
	compiled, err := regexp.Compile(text)
	return &matcher{compiled, states}, err
}

// patternStates is about how many states an expression has when its repetitions are
// written out. A class of letters counts by its ranges too.
func patternStates(tree *syntax.Regexp) int {
	states := 1
	switch tree.Op {
	case syntax.OpLiteral:
		states = len(tree.Rune)
	case syntax.OpCharClass:
		states += len(tree.Rune) / 16
	}
	for _, sub := range tree.Sub {
		if states += patternStates(sub); states > maxPatternStates {
			return states // so that products stay small
		}
	}
	if tree.Op == syntax.OpRepeat {
		states *= max(tree.Min, tree.Max) + 1
	}
	return states
}
