package cdc

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead"
)

// complaints collects the errors of invalid fields.
type complaints struct {
	fields []fairlead.FieldError
}

func (c *complaints) refuse(field, format string, args ...any) {
	c.fields = append(c.fields, fairlead.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *complaints) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return &fairlead.InvalidError{Fields: c.fields}
}

// answerError is an error response of a cluster.
type answerError struct {
	cluster string
	request string // method and path
	status  int
	message string
}

func (e *answerError) Error() string {
	text := fmt.Sprintf("cluster %q responded with %d to %s: %s", e.cluster, e.status, e.request, e.message)
	if e.status == http.StatusUnauthorized || e.status == http.StatusForbidden {
		text += "; check the cluster's username and password"
	}
	return text
}

// answered reports whether an error is a response with this status.
func answered(err error, status int) bool {
	var answer *answerError
	return errors.As(err, &answer) && answer.status == status
}

// saying reports whether an error is a response with a message that contains part.
func saying(err error, part string) bool {
	var answer *answerError
	return errors.As(err, &answer) && strings.Contains(answer.message, part)
}

const maxMessage = 400 // maximum number of bytes shown of a cluster's message

// brief returns the first line of a message, truncated to maxMessage.
func brief(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if len(line) <= maxMessage {
		return line
	}
	end := maxMessage
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}
