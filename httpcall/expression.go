package httpcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Bounds of an expression. With no loops in the language they bound its time too.
const (
	maxExpression = 2000 // bytes
	maxNodes      = 300
)

// functions are what of the language's functions is there: none that loops, and
// none that makes much of little.
var functions = []string{"len", "lower", "upper", "trim", "int", "float", "string", "type", "abs"}

// seen is what an expression knows of an answer.
type seen struct {
	Status  int               `expr:"status"`
	Headers map[string]string `expr:"headers"` // by their names in lower case
	Body    any               `expr:"body"`    // decoded if it is JSON, else its text
}

// compileExpression checks an expression.
func compileExpression(text string) (*vm.Program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(text), maxExpression)
	}
	loops := &loopFinder{}
	options := []expr.Option{expr.Env(seen{}), expr.AsBool(), expr.MaxNodes(maxNodes), expr.Patch(loops), expr.DisableAllBuiltins()}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	switch {
	case loops.found != "":
		return nil, fmt.Errorf("has %s, which is not there; functions are %s", loops.found, strings.Join(functions, ", "))
	case err != nil:
		return nil, fmt.Errorf("cannot be understood: %w", err)
	default:
		return program, nil
	}
}

// loopFinder looks for what could take long: functions that go over lists cannot
// be switched off like the others, and ranges make long lists.
type loopFinder struct{ found string }

// Visit is called for each part of an expression.
func (f *loopFinder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if !slices.Contains(functions, n.Name) {
			f.found = n.Name
		}
	case *ast.BinaryNode:
		if n.Operator == ".." {
			f.found = n.Operator
		}
	}
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
