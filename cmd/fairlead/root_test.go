package main

import (
	"strings"
	"testing"
)

// A script that mistypes a command must notice, and its author see what there is.
func TestACommandThatIsNotThereIsNamed(t *testing.T) {
	for typedIn, want := range map[string]string{
		"serv":           `fairlead has no command "serv": use alert, apply, audit, batch, bench, `,
		"bench foo":      `fairlead bench has no command "foo": use batch, console, drain, enqueue, `,
		"completion foo": `fairlead completion has no command "foo": use bash, fish, powershell, zsh`,
		"migrate down":   `fairlead migrate has no command "down": use print, status, up`,
		"job foo":        `fairlead job has no command "foo": use attempts, `,
	} {
		if _, stderr := typed(t, exitUsage, strings.Fields(typedIn)...); !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", typedIn, stderr)
		}
	}
	for _, alone := range []string{"", "bench", "completion", "migrate"} {
		if stdout, _ := typed(t, exitOK, strings.Fields(alone)...); !strings.Contains(stdout, "Usage:") {
			t.Errorf("%s: %s", alone, stdout)
		}
	}
	if stdout, _ := typed(t, exitOK, "completion", "bash"); !strings.Contains(stdout, "bash completion") {
		t.Error("there is no script for bash")
	}
}
