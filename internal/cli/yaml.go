package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
)

var (
	// quoted matches the parts of a parser message that repeat the file.
	quoted = regexp.MustCompile(`(?s)\s*".*"`)
	// aboutKey matches a message that contains nothing but a key of the usual form. Any
	// other text may be a value in the place of a key.
	aboutKey = regexp.MustCompile(`^(mapping key|duplicate key|unknown field) "[A-Za-z][A-Za-z0-9_-]{0,40}"( already defined at \[\d+:\d+\])?$`)
)

// YAMLMistake returns the position and cause of an error in a YAML file. It does not wrap
// the parser's error, which quotes the file and could expose passwords.
func YAMLMistake(file string, err error) error {
	var located yaml.Error
	switch {
	case errors.As(err, &located):
	case strings.HasPrefix(err.Error(), "time: "):
		return fmt.Errorf("%s: invalid duration; use a value such as 500ms, 10s or 5m", file)
	default:
		return fmt.Errorf("%s: a value has the wrong type (not shown, because it may be a secret)", file)
	}
	if at := located.GetToken(); at != nil && at.Position != nil {
		return fmt.Errorf("%s, line %d, column %d: %s", file, at.Position.Line, at.Position.Column, withoutValues(located))
	}
	return fmt.Errorf("%s: %s", file, withoutValues(located))
}

// withoutValues returns the reason of an error without content from the file. It includes
// keys that look like keys.
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
