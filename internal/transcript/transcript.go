// Package transcript runs the examples in documents: blocks of commands, each followed by
// its output.
//
//	```console
//	$ fairlead job enqueue noop
//	7
//	```
package transcript

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
)

// Example is a command and its expected output. In the output, … matches any text.
type Example struct{ Command, Want string }

var block = regexp.MustCompile("(?s)```console\n(.*?)```")

// Of returns the examples in a Markdown text. If a command ends with <<END, the lines up to
// END are its input.
func Of(text string) (examples []Example) {
	for _, match := range block.FindAllStringSubmatch(text, -1) {
		for _, part := range strings.Split("\n"+match[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			if strings.HasSuffix(command, "<<END") {
				input, rest, _ := strings.Cut(want, "\nEND")
				command, want = command+"\n"+input+"\nEND", rest
			}
			examples = append(examples, Example{command, strings.TrimSpace(want)})
		}
	}
	return examples
}

// Run runs the command with sh and returns the command's output.
func (e Example) Run(ctx context.Context, dir string, env []string) (string, error) {
	shell := exec.CommandContext(ctx, "sh", "-c", e.Command)
	shell.Dir, shell.Env = dir, env
	got, err := shell.Output()
	return strings.TrimSpace(string(got)), err
}

// Fits reports whether got matches the expected output.
func (e Example) Fits(got string) bool {
	parts := strings.Split(e.Want, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(got)
}
