package httpcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
)

// Bounds of an expression. The language has no loops and no variables, so these bound
// what reading and checking it costs; a budget bounds what applying it costs.
const (
	maxExpression = 2000 // bytes
	maxNodes      = 300  // operators, names, values and calls
)

// seen is what an expression knows of an answer.
type seen struct {
	Status  int               `expr:"status"`
	Headers map[string]string `expr:"headers"` // by their names in lower case
	Body    any               `expr:"body"`    // decoded if it is JSON, else its text
}

// expression is an expression that was checked. Only its syntax tree comes from the
// library: the library's own evaluator bounds neither the length of texts nor time.
type expression struct {
	root     ast.Node
	patterns map[string]*matcher // that are written in the expression
}

// compileExpression checks an expression.
func compileExpression(text string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxExpression)
	}
	config := conf.New(seen{})
	config.MaxNodes = maxNodes
	tree, err := new(parser.Parser).Parse(text, config)
	if err != nil {
		return nil, fmt.Errorf("is not a valid expression: %w", err)
	}
	// The library's checker visits what is shared by two operators twice, so trees must
	// be known to be small before they get there.
	found := &expressionChecker{expression: &expression{root: tree.Node, patterns: map[string]*matcher{}}}
	if err := found.check(tree.Node); err != nil {
		return nil, err
	}
	config.Expect, config.ExpectAny = reflect.Bool, true
	if _, err := checker.Check(tree, config); err != nil {
		return nil, fmt.Errorf("is not a valid expression: %w", err)
	}
	return found.expression, nil
}

// holds reports whether the expression is true of an answer. It fails if the
// expression cannot be applied to it, or not within the budget.
func (e *expression) holds(reply Reply) (bool, error) {
	run := &evaluation{expression: e, answer: see(reply), budget: budget{work: maxWork, made: maxMade}}
	value, err := run.value(e.root)
	if errors.Is(err, errNothing) {
		return false, nil
	}
	return value == true, err
}

// see is an answer as expressions know it.
func see(reply Reply) seen {
	s := seen{Status: reply.Status, Headers: map[string]string{}}
	for name := range reply.Header {
		s.Headers[strings.ToLower(name)] = reply.Header.Get(name)
	}
	if reply.Cut || json.Unmarshal(reply.Body, &s.Body) != nil {
		s.Body = strings.ToValidUTF8(string(reply.Body), string(utf8.RuneError))
	}
	return s
}
