package httpcall

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// condition decides whether an answer is a success.
type condition struct {
	statuses   []statusRange
	expression *expression // nil: none
}

type statusRange struct{ from, to int }

// conditionError names the field of Success that is wrong.
type conditionError struct {
	field string
	err   error
}

func (e *conditionError) Error() string { return e.field + ": " + e.err.Error() }

func newCondition(success *Success) (*condition, error) {
	c := &condition{}
	if success == nil {
		success = &Success{}
	}
	if len(success.Status) > maxStatuses {
		return nil, &conditionError{"status", fmt.Errorf("has %d entries; at most %d are allowed", len(success.Status), maxStatuses)}
	}
	for i, text := range success.Status {
		statuses, err := parseStatus(text)
		if err != nil {
			return nil, &conditionError{fmt.Sprintf("status[%d]", i), err}
		}
		c.statuses = append(c.statuses, statuses)
	}
	if len(c.statuses) == 0 {
		c.statuses = []statusRange{{200, 299}}
	}
	if success.Expression == "" {
		return c, nil
	}
	program, err := compileExpression(success.Expression)
	if err != nil {
		return nil, &conditionError{"expression", err}
	}
	c.expression = program
	return c, nil
}

// parseStatus reads 2xx, 304 or 200-204.
func parseStatus(text string) (statusRange, error) {
	wrong := fmt.Errorf("is %q; it must be a status such as 2xx, 304 or 200-204", text)
	if hundreds, isClass := strings.CutSuffix(strings.ToLower(text), "xx"); isClass {
		n, err := strconv.Atoi(hundreds)
		if err != nil || n < 1 || n > 5 {
			return statusRange{}, wrong
		}
		return statusRange{n * 100, n*100 + 99}, nil
	}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || from < 100 || to > 599 || from > to {
		return statusRange{}, wrong
	}
	return statusRange{from, to}, nil
}

// met reports why an answer is no success; nil if it is one.
func (c *condition) met(reply Reply) error {
	listed := false
	for _, s := range c.statuses {
		listed = listed || reply.Status >= s.from && reply.Status <= s.to
	}
	if !listed {
		return fmt.Errorf("responded with %s", statusText(reply.Status))
	}
	if c.expression == nil {
		return nil
	}
	holds, err := c.expression.holds(reply)
	if err != nil {
		return fmt.Errorf("responded, but success.expression cannot be evaluated: %w", err)
	}
	if !holds {
		return fmt.Errorf("responded with %s, but success.expression is false", statusText(reply.Status))
	}
	return nil
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}
