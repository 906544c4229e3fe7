package httpcall

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
)

// sortOf names the sort of a value in errors, which never show the value itself.
func sortOf(value any) string {
	switch typeName(value) {
	case "nil":
		return "nil"
	case "bool":
		return "a boolean"
	case "string":
		return "a string"
	case "array":
		return "a list"
	case "map":
		return "an object"
	default:
		return "a number"
	}
}

// typeName is what the function type returns.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case int:
		return "int"
	case float64:
		return "float"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "map"
	}
}

// partName is the name of a part in errors.
func partName(name any) string {
	switch n := name.(type) {
	case string:
		return fmt.Sprintf("%.40q", n)
	case int, float64:
		return fmt.Sprintf("item %v", n)
	default:
		return "element at " + sortOf(name)
	}
}

func wholeNumber(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return 0, false
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// equal compares values. Lists and objects are equal if all of their parts are.
func (e *evaluation) equal(a, b any) (bool, error) {
	if err := e.budget.spend(1); err != nil {
		return false, err
	}
	if x, fine := number(a); fine {
		y, fine := number(b)
		return fine && x == y, nil
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case bool:
		return x == b, nil
	case string:
		y, fine := b.(string)
		if !fine || len(x) != len(y) {
			return false, nil
		}
		return x == y, e.budget.spend(len(x))
	case []any:
		y, fine := b.([]any)
		if !fine || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := e.equal(x[i], y[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	}
	x, _ := objectOf(a)
	y, fine := objectOf(b)
	if !fine || x.len() != y.len() {
		return false, nil
	}
	return e.equalObjects(x, y)
}

// object is a value that is an object, or the headers, which hold texts alone.
type object struct {
	values map[string]any
	texts  map[string]string
}

// objectOf reports whether a value is an object.
func objectOf(value any) (object, bool) {
	switch v := value.(type) {
	case map[string]any:
		return object{values: v}, true
	case map[string]string:
		return object{texts: v}, true
	}
	return object{}, false
}

func (o object) len() int { return len(o.values) + len(o.texts) }

func (o object) get(name string) (any, bool) {
	if o.texts != nil {
		text, found := o.texts[name]
		return text, found
	}
	value, found := o.values[name]
	return value, found
}

func (o object) all(yield func(name string, value any) bool) {
	for name, value := range o.values {
		if !yield(name, value) {
			return
		}
	}
	for name, text := range o.texts {
		if !yield(name, text) {
			return
		}
	}
}

// equalObjects compares objects with as many fields.
func (e *evaluation) equalObjects(a, b object) (bool, error) {
	for name, value := range a.all {
		if err := e.budget.spend(len(name)); err != nil {
			return false, err
		}
		other, found := b.get(name)
		if !found {
			return false, nil
		}
		if same, err := e.equal(value, other); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// ordered compares numbers or texts.
func (e *evaluation) ordered(operator string, a, b any) (any, error) {
	var order int
	x, fine := number(a)
	y, alsoFine := number(b)
	s, isText := a.(string)
	t, alsoText := b.(string)
	switch {
	case fine && alsoFine && (math.IsNaN(x) || math.IsNaN(y)):
		return false, nil
	case fine && alsoFine:
		order = cmp.Compare(x, y)
	case isText && alsoText:
		if err := e.budget.spend(min(len(s), len(t))); err != nil {
			return nil, err
		}
		order = strings.Compare(s, t)
	default:
		return nil, fmt.Errorf("cannot compare %s with %s", sortOf(a), sortOf(b))
	}
	switch operator {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	default:
		return order >= 0, nil
	}
}

// in reports whether a list has a value, or an object a field.
func (e *evaluation) in(value, within any) (any, error) {
	if within == nil {
		return false, nil
	}
	if list, fine := within.([]any); fine {
		for _, item := range list {
			if same, err := e.equal(item, value); err != nil || same {
				return same, err
			}
		}
		return false, nil
	}
	object, fine := objectOf(within)
	if !fine {
		return nil, fmt.Errorf("in requires a list or an object, got %s", sortOf(within))
	}
	name, fine := value.(string)
	if !fine {
		return false, nil // no field has such a name
	}
	_, found := object.get(name)
	return found, nil
}

// calculate applies an operator to numbers, or adds texts.
func (e *evaluation) calculate(operator string, a, b any) (any, error) {
	s, isText := a.(string)
	t, alsoText := b.(string)
	if isText && alsoText && operator == "+" {
		if err := e.budget.take(len(s) + len(t)); err != nil {
			return nil, err
		}
		return s + t, nil
	}
	if operator == "%" {
		return remainder(a, b)
	}
	i, isInt := a.(int)
	j, alsoInt := b.(int)
	if isInt && alsoInt {
		switch operator {
		case "+":
			return i + j, nil
		case "-":
			return i - j, nil
		case "*":
			return i * j, nil
		}
	}
	x, fine := number(a)
	y, alsoFine := number(b)
	if !fine || !alsoFine {
		return nil, fmt.Errorf("cannot evaluate %s %s %s", sortOf(a), operator, sortOf(b))
	}
	switch operator {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/":
		return x / y, nil
	default:
		return math.Pow(x, y), nil
	}
}

func remainder(a, b any) (any, error) {
	i, fine := wholeNumber(a)
	j, alsoFine := wholeNumber(b)
	switch {
	case !fine || !alsoFine:
		return nil, errors.New("% requires whole numbers")
	case j == 0:
		return nil, errors.New("% by zero is undefined")
	case j == -1:
		return 0, nil // of the smallest number too
	}
	return i % j, nil
}
