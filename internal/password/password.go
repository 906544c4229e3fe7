// Package password reads database passwords that change while a program runs: from a file
// that is replaced, or from a command that requests a token. The password is read again for
// every connection.
package password

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// URL parameters.
const (
	FileParameter    = "password_file"
	CommandParameter = "password_command"
)

const (
	commandTime = 10 * time.Second // time limit for a command
	longest     = 64 << 10         // maximum bytes of a password; tokens have a few thousand
)

// Source is a function that returns the current password.
type Source func(ctx context.Context) (string, error)

// From returns the password source set in a URL's parameters: a file, or a command with
// arguments, which runs without a shell. It returns nil if neither is set, and ErrInvalid if
// the password is given more than once. known is the password in the URL itself.
func From(known, file, command string) (Source, error) {
	words := strings.Fields(command)
	switch {
	case file == "" && len(words) == 0 && command == "":
		return nil, nil
	case known != "" || file != "" && command != "":
		return nil, fmt.Errorf("the URL specifies the password more than once: use only one of a literal password, %s and %s: %w", FileParameter, CommandParameter, fairlead.ErrInvalid)
	case file != "":
		return func(context.Context) (string, error) { return fromFile(file) }, nil
	case len(words) == 0:
		return nil, fmt.Errorf("%s is empty; name a command that prints the password: %w", CommandParameter, fairlead.ErrInvalid)
	}
	return func(ctx context.Context) (string, error) { return fromCommand(ctx, words) }, nil
}

func fromFile(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", FileParameter, err)
	}
	return firstLine(fmt.Sprintf("%s %s", FileParameter, path), raw)
}

// fromCommand runs a command. Its standard error may appear in errors; its standard output
// never does.
func fromCommand(ctx context.Context, words []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	var problem bytes.Buffer
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stderr = &problem
	cmd.WaitDelay = time.Second // for children that hold its output open
	raw, err := cmd.Output()
	name := fmt.Sprintf("%s %s", CommandParameter, words[0])
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s did not finish within %v", name, commandTime)
	case err != nil:
		return "", fmt.Errorf("%s: %w%s", name, err, said(problem.String()))
	}
	return firstLine(name, raw)
}

// said returns the end of a command's standard error.
func said(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	const most = 300
	return ": " + text[max(0, len(text)-most):]
}

func firstLine(source string, raw []byte) (string, error) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	switch {
	case len(line) == 0:
		return "", fmt.Errorf("%s: the first line is empty; it must be the password", source)
	case len(line) > longest:
		return "", fmt.Errorf("%s: the first line has %d bytes; a password may have at most %d", source, len(line), longest)
	}
	return string(line), nil
}
