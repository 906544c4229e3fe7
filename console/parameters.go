package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// refuseParameter is the error of a parameter that cannot be used.
func refuseParameter(name, format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
}

// takes refuses parameters that a page does not know: one that is misspelt would else
// show other rows than were asked for.
func (v *visit) takes(names ...string) error {
	for name := range v.Query {
		if !slices.Contains(names, name) {
			return refuseParameter(name, "this page does not know it; it knows %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// whole is a parameter that is a whole number within bounds; 0 if it is not given.
func (v *visit) whole(name string, least, most int) (int, error) {
	given := v.Get(name)
	if given == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < least || n > most {
		return 0, refuseParameter(name, "must be a number from %d to %d", least, most)
	}
	return n, nil
}

// yesNo is a parameter that is true or false; nil if it is not given.
func (v *visit) yesNo(name string) (*bool, error) {
	switch v.Get(name) {
	case "":
		return nil, nil
	case "true":
		return new(true), nil
	case "false":
		return new(false), nil
	}
	return nil, refuseParameter(name, "must be true or false")
}

// instant is a parameter that is a time; zero if it is not given.
func (v *visit) instant(name string) (time.Time, error) {
	given := v.Get(name)
	if given == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, given)
	if err != nil {
		return time.Time{}, refuseParameter(name, "must be a time as 2026-01-31T12:00:00Z")
	}
	return at, nil
}
