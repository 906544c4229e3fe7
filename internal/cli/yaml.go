package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

var (
	// quoted is all that a message of the parser repeats of a file.
	quoted = regexp.MustCompile(`(?s)\s*".*"`)
	// aboutKey is a message that names nothing but a key as people write them.
	// Anything else may be a value that has slipped into the place of a key.
	aboutKey = regexp.MustCompile(`^(mapping key|duplicate key|unknown field) "[A-Za-z][A-Za-z0-9_-]{0,40}"( already defined at \[\d+:\d+\])?$`)
)

// YAMLMistake returns where a YAML file is wrong, and why. It does not wrap the error
// of the parser: that one quotes the file, with the passwords in it.
func YAMLMistake(file string, err error) error {
	var located yaml.Error
	switch {
	case errors.As(err, &located):
	case strings.HasPrefix(err.Error(), "time: "):
		return fmt.Errorf("%s: invalid duration; write durations as 500ms, 10s or 5m", file)
	default:
		return fmt.Errorf("%s: a value has the wrong type (not shown, because it may be a secret)", file)
	}
	if at := located.GetToken(); at != nil && at.Position != nil {
		return fmt.Errorf("%s, line %d, column %d: %s", file, at.Position.Line, at.Position.Column, withoutValues(located))
	}
	return fmt.Errorf("%s: %s", file, withoutValues(located))
}

// withoutValues is what is wrong, without what the file says. Keys are named if they
// look like keys.
func withoutValues(err yaml.Error) string {
	message := err.GetMessage()
	var overflow *yaml.OverflowError
	switch {
	case errors.As(err, &overflow):
		return "the number is too large"
	case aboutKey.MatchString(message):
		return message
	}
	return strings.TrimSuffix(quoted.ReplaceAllString(message, ""), ":")
}
