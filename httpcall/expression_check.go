package httpcall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// functions are those of the language's functions that an expression may call: none
// loops, and none makes much of little.
var functions = []string{"len", "lower", "upper", "trim", "int", "float", "string", "type", "abs"}

// operators are those that an expression may use between two values.
var operators = []string{
	"==", "!=", "<", "<=", ">", ">=", "&&", "and", "||", "or", "??", "+", "-", "*", "/", "%", "**", "^",
	"in", "contains", "startsWith", "endsWith", "matches",
}

// expressionChecker refuses all of the language that is not listed: variables and
// ranges make much of little, functions over lists loop.
type expressionChecker struct {
	expression *expression
	nodes      int
}

// check looks at a node and all below. A node that is shared counts as often as it is
// used: chained comparisons, nested, would else be visited exponentially often.
func (c *expressionChecker) check(node ast.Node) error {
	if c.nodes++; c.nodes > maxNodes {
		return fmt.Errorf("has more than %d operators, names, values and calls", maxNodes)
	}
	switch n := node.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return nil
	case *ast.IdentifierNode:
		if n.Value != "status" && n.Value != "headers" && n.Value != "body" {
			return fmt.Errorf("contains the unknown name %q; use status, headers or body", n.Value)
		}
		return nil
	case *ast.UnaryNode:
		return c.check(n.Node)
	case *ast.BinaryNode:
		return c.checkOperator(n)
	case *ast.ChainNode:
		return c.check(n.Node)
	case *ast.MemberNode:
		return c.checkAll(n.Node, n.Property)
	case *ast.SliceNode:
		return c.checkAll(n.Node, n.From, n.To)
	case *ast.ConditionalNode:
		return c.checkAll(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return c.checkAll(n.Nodes...)
	case *ast.BuiltinNode:
		return c.checkCall(n.Name, n.Arguments)
	case *ast.CallNode:
		// What is called is not printed: two operators may share a node, and each would
		// print all that is below it again.
		name, isName := n.Callee.(*ast.IdentifierNode)
		if !isName {
			return fmt.Errorf("calls something that is not a function; supported functions: %s", strings.Join(functions, ", "))
		}
		return c.checkCall(name.Value, n.Arguments)
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return errors.New("contains variables or several statements; write a single condition")
	default:
		return errors.New("uses syntax that is not supported")
	}
}

// checkAll checks several nodes. One that is nil was left out, as in list[1:].
func (c *expressionChecker) checkAll(nodes ...ast.Node) error {
	for _, node := range nodes {
		if node == nil {
			continue
		}
		if err := c.check(node); err != nil {
			return err
		}
	}
	return nil
}

func (c *expressionChecker) checkOperator(n *ast.BinaryNode) error {
	if !slices.Contains(operators, n.Operator) {
		return fmt.Errorf("contains the unsupported operator %s; supported operators: %s", n.Operator, strings.Join(operators, " "))
	}
	if text, fixed := n.Right.(*ast.StringNode); fixed && n.Operator == "matches" {
		compiled, err := compilePattern(text.Value)
		if err != nil {
			return err
		}
		c.expression.patterns[text.Value] = compiled
	}
	return c.checkAll(n.Left, n.Right)
}

func (c *expressionChecker) checkCall(name string, arguments []ast.Node) error {
	if !slices.Contains(functions, name) {
		return fmt.Errorf("calls unknown function %.40s; supported functions: %s", name, strings.Join(functions, ", "))
	}
	most := 1
	if name == "trim" {
		most = 2
	}
	if len(arguments) < 1 || len(arguments) > most {
		return fmt.Errorf("calls %s with %d arguments; it takes at least 1 and at most %d", name, len(arguments), most)
	}
	return c.checkAll(arguments...)
}
