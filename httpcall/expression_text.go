package httpcall

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// find looks for a text in another. What is nil has none and is in none.
func (e *evaluation) find(operator string, within, what any) (any, error) {
	if within == nil || what == nil {
		return false, nil
	}
	text, fine := within.(string)
	part, alsoFine := what.(string)
	if !fine || !alsoFine {
		return nil, fmt.Errorf("%s requires two strings, got %s and %s", operator, sortOf(within), sortOf(what))
	}
	if operator == "matches" {
		return e.matches(text, part)
	}
	if err := e.budget.spend(len(text) + len(part)); err != nil {
		return nil, err
	}
	switch operator {
	case "contains":
		return strings.Contains(text, part), nil
	case "startsWith":
		return strings.HasPrefix(text, part), nil
	default:
		return strings.HasSuffix(text, part), nil
	}
}

// matches applies a regular expression. In the worst case each letter is compared with
// each state.
func (e *evaluation) matches(text, pattern string) (any, error) {
	compiled := e.patterns[pattern]
	if compiled == nil {
		if err := e.budget.take(64 * min(len(pattern), maxPattern)); err != nil {
			return nil, err
		}
		var err error
		if compiled, err = compilePattern(pattern); err != nil {
			return nil, err
		}
	}
	if err := e.budget.spend((len(text) + 1) * compiled.states); err != nil {
		return nil, err
	}
	return compiled.MatchString(text), nil
}

// call calls one of the functions.
func (e *evaluation) call(name string, nodes []ast.Node) (any, error) {
	arguments := make([]any, len(nodes))
	for i, node := range nodes {
		var err error
		if arguments[i], err = e.value(node); err != nil {
			return nil, err
		}
	}
	switch first := arguments[0]; name {
	case "type":
		return typeName(first), nil
	case "string":
		var out strings.Builder
		err := e.write(&out, first)
		return out.String(), err
	case "len":
		return e.length(first)
	case "int", "float", "abs":
		return e.convert(name, first)
	default:
		return e.changed(name, arguments)
	}
}

// changed is the result of a function of texts.
func (e *evaluation) changed(name string, arguments []any) (any, error) {
	texts := [2]string{}
	for i, argument := range arguments {
		var fine bool
		if texts[i], fine = argument.(string); !fine {
			return nil, fmt.Errorf("%s requires a string, got %s", name, sortOf(argument))
		}
	}
	text, set := texts[0], texts[1]
	if name == "trim" {
		// Each letter of the text may have to be looked for in the set.
		if err := e.budget.spend(len(text) * (len(set) + 1)); err != nil {
			return nil, err
		}
		if len(arguments) == 1 {
			return strings.TrimSpace(text), nil
		}
		return strings.Trim(text, set), nil
	}
	if err := e.budget.take(3 * len(text)); err != nil { // a few letters are longer in the other case
		return nil, err
	}
	if name == "lower" {
		return strings.ToLower(text), nil
	}
	return strings.ToUpper(text), nil
}

func (e *evaluation) length(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return utf8.RuneCountInString(v), e.budget.spend(len(v))
	case []any:
		return len(v), nil
	}
	if object, fine := objectOf(value); fine {
		return object.len(), nil
	}
	return nil, fmt.Errorf("%s has no length", sortOf(value))
}

// convert is the result of a function of numbers. Those that make a number take a text
// too, of which a long one is none.
func (e *evaluation) convert(name string, value any) (any, error) {
	text, isText := value.(string)
	if isText && (len(text) > 400 || name == "abs") {
		return nil, fmt.Errorf("%s does not accept this string", name)
	}
	switch {
	case isText && name == "int":
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("the string is not a whole number")
		}
		return n, nil
	case isText:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, errors.New("the string is not a number")
		}
		return n, nil
	}
	x, fine := number(value)
	if !fine {
		return nil, fmt.Errorf("%s is not a number", sortOf(value))
	}
	n, isInt := value.(int)
	switch {
	case name == "float":
		return x, nil
	case name == "int" && isInt:
		return n, nil
	case name == "int":
		return int(x), nil
	case isInt:
		return max(n, -n), nil
	default:
		return math.Abs(x), nil
	}
}

// write writes a value as a text, and pays for each part of it before it is written.
func (e *evaluation) write(out *strings.Builder, value any) error {
	switch v := value.(type) {
	case string:
		return e.put(out, v)
	case []any:
		if err := e.put(out, "["); err != nil {
			return err
		}
		for i, item := range v {
			if err := e.put(out, separator(i)); err != nil {
				return err
			}
			if err := e.write(out, item); err != nil {
				return err
			}
		}
		return e.put(out, "]")
	}
	if object, fine := objectOf(value); fine {
		return e.writeObject(out, object)
	}
	return e.put(out, fmt.Sprint(value))
}

func (e *evaluation) put(out *strings.Builder, text string) error {
	if err := e.budget.take(len(text)); err != nil {
		return err
	}
	out.WriteString(text)
	return nil
}

// separator stands before each item but the first.
func separator(item int) string {
	if item == 0 {
		return ""
	}
	return " "
}

// writeObject writes the fields in the order of their names.
func (e *evaluation) writeObject(out *strings.Builder, object object) error {
	if err := e.budget.take(64 * object.len()); err != nil { // for the names in order
		return err
	}
	if err := e.put(out, "map["); err != nil {
		return err
	}
	names := make([]string, 0, object.len())
	for name := range object.all {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if err := e.put(out, separator(i)+name+":"); err != nil {
			return err
		}
		value, _ := object.get(name)
		if err := e.write(out, value); err != nil {
			return err
		}
	}
	return e.put(out, "]")
}
