package httpcall

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// evaluation applies an expression to an answer. Values are nil, bool, int, float64,
// string, []any, map[string]any and, for the headers, map[string]string. All that
// takes time or memory is paid for from the budget before it is done.
type evaluation struct {
	*expression
	answer seen
	budget budget
}

// errNothing ends a chain such as body?.a.b whose beginning is nil.
var errNothing = errors.New("no value")

// value is what a node stands for.
func (e *evaluation) value(node ast.Node) (any, error) {
	if err := e.budget.spend(1); err != nil {
		return nil, err
	}
	switch n := node.(type) {
	case *ast.NilNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode:
		return n.Value, nil
	case *ast.FloatNode:
		return n.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IdentifierNode:
		return e.named(n.Value), nil
	case *ast.UnaryNode:
		return e.unary(n)
	case *ast.BinaryNode:
		return e.binary(n)
	case *ast.ChainNode:
		value, err := e.value(n.Node)
		if errors.Is(err, errNothing) {
			return nil, nil
		}
		return value, err
	case *ast.MemberNode:
		return e.member(n)
	case *ast.SliceNode:
		return e.slice(n)
	case *ast.ConditionalNode:
		return e.conditional(n)
	case *ast.ArrayNode:
		return e.list(n.Nodes)
	case *ast.BuiltinNode:
		return e.call(n.Name, n.Arguments)
	}
	return nil, fmt.Errorf("unknown syntax node %T", node) // the checker refuses it
}

func (e *evaluation) named(name string) any {
	switch name {
	case "status":
		return e.answer.Status
	case "headers":
		return e.answer.Headers
	default:
		return e.answer.Body
	}
}

// condition is what a node stands for that must be true or false.
func (e *evaluation) condition(node ast.Node) (bool, error) {
	value, err := e.value(node)
	if err != nil {
		return false, err
	}
	is, fine := value.(bool)
	if !fine {
		return false, fmt.Errorf("%s is neither true nor false", sortOf(value))
	}
	return is, nil
}

func (e *evaluation) conditional(n *ast.ConditionalNode) (any, error) {
	is, err := e.condition(n.Cond)
	switch {
	case err != nil:
		return nil, err
	case is:
		return e.value(n.Exp1)
	default:
		return e.value(n.Exp2)
	}
}

func (e *evaluation) list(nodes []ast.Node) (any, error) {
	if err := e.budget.take(16 * len(nodes)); err != nil {
		return nil, err
	}
	list := make([]any, len(nodes))
	for i, node := range nodes {
		var err error
		if list[i], err = e.value(node); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (e *evaluation) unary(n *ast.UnaryNode) (any, error) {
	if n.Operator == "!" || n.Operator == "not" {
		is, err := e.condition(n.Node)
		return !is, err
	}
	value, err := e.value(n.Node)
	if err != nil {
		return nil, err
	}
	switch v := value.(type) {
	case int:
		if n.Operator == "-" {
			return -v, nil
		}
		return v, nil
	case float64:
		if n.Operator == "-" {
			return -v, nil
		}
		return v, nil
	}
	return nil, fmt.Errorf("%s is not a number", sortOf(value))
}

// binary applies an operator. Its right side is not looked at if the left one decides.
func (e *evaluation) binary(n *ast.BinaryNode) (any, error) {
	switch n.Operator {
	case "&&", "and", "||", "or":
		is, err := e.condition(n.Left)
		if err != nil || is == (n.Operator == "||" || n.Operator == "or") {
			return is, err
		}
		return e.condition(n.Right)
	case "??":
		left, err := e.value(n.Left)
		if err != nil && !errors.Is(err, errNothing) || err == nil && left != nil {
			return left, err
		}
		return e.value(n.Right)
	}
	left, err := e.value(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := e.value(n.Right)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "==":
		return e.equal(left, right)
	case "!=":
		same, err := e.equal(left, right)
		return !same, err
	case "<", "<=", ">", ">=":
		return e.ordered(n.Operator, left, right)
	case "in":
		return e.in(left, right)
	case "contains", "startsWith", "endsWith", "matches":
		return e.find(n.Operator, left, right)
	default:
		return e.calculate(n.Operator, left, right)
	}
}

// member is a field of an object or an item of a list.
func (e *evaluation) member(n *ast.MemberNode) (any, error) {
	from, err := e.value(n.Node)
	if err != nil {
		return nil, err
	}
	if from == nil && n.Optional {
		return nil, errNothing
	}
	name, err := e.value(n.Property)
	if err != nil {
		return nil, err
	}
	switch within := from.(type) {
	case map[string]any:
		if text, fine := name.(string); fine {
			return within[text], nil
		}
	case map[string]string:
		if text, fine := name.(string); fine {
			return within[text], nil
		}
	case []any:
		i, fine := wholeNumber(name)
		if i < 0 {
			i += len(within)
		}
		if fine && (i < 0 || i >= len(within)) {
			return nil, fmt.Errorf("index %v is out of range for a list of %d items", name, len(within))
		}
		if fine {
			return within[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no %s", sortOf(from), partName(name))
}

// slice is a part of a list or of a text.
func (e *evaluation) slice(n *ast.SliceNode) (any, error) {
	from, err := e.value(n.Node)
	if err != nil {
		return nil, err
	}
	text, isText := from.(string)
	list, isList := from.([]any)
	if !isText && !isList {
		return nil, fmt.Errorf("%s cannot be sliced", sortOf(from))
	}
	long := max(len(text), len(list))
	bounds := [2]int{0, long}
	for i, node := range []ast.Node{n.From, n.To} {
		if node == nil {
			continue
		}
		value, err := e.value(node)
		if err != nil {
			return nil, err
		}
		at, fine := wholeNumber(value)
		if !fine {
			return nil, fmt.Errorf("%s is not a whole number", sortOf(value))
		}
		if at < 0 {
			at += long
		}
		bounds[i] = min(max(at, 0), long)
	}
	bounds[0] = min(bounds[0], bounds[1])
	if isText {
		return text[bounds[0]:bounds[1]], nil
	}
	return list[bounds[0]:bounds[1]], nil
}
