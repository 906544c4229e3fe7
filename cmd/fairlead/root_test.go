package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

func TestTheHelpHasEveryCommandInASection(t *testing.T) {
	help, _ := typed(t, exitOK, "--help")
	for _, section := range commandGroups {
		if !strings.Contains(help, "\n"+section.title+":\n") {
			t.Errorf("the help has no section %s:\n%s", section.title, help)
		}
		for _, name := range section.commands {
			if cmd, _, err := newRootCommand().Find([]string{name}); err != nil || cmd.GroupID != section.title {
				t.Errorf("%s is in the section %q, want %q: %v", name, cmd.GroupID, section.title, err)
			}
		}
	}
	for _, cmd := range newRootCommand().Commands() {
		if cmd.GroupID == "" && cmd.Name() != "version" {
			t.Errorf("%s is in no section", cmd.Name())
		}
	}
}

// The help of a flag must be clear on its own: it states the default, unless cobra adds
// that.
func TestEveryFlagSaysItsDefault(t *testing.T) {
	says := regexp.MustCompile(`default|required|0 = |^only |for the action `)
	forEachCommand(newRootCommand(), func(cmd *cobra.Command) {
		for _, empty := range []string{"(default )", "(default [])"} {
			if usages := cmd.LocalFlags().FlagUsages(); strings.Contains(usages, empty) {
				t.Errorf("%s shows an empty default:\n%s", cmd.CommandPath(), usages)
			}
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			zero := slices.Contains([]string{"", "0", "0s", "false", "[]"}, flag.DefValue)
			if flag.Name == "help" || flag.Value.Type() == "bool" {
				return
			}
			if zero && !says.MatchString(flag.Usage) {
				t.Errorf("%s --%s does not say its default: %s", cmd.CommandPath(), flag.Name, flag.Usage)
			}
			if !zero && strings.Contains(flag.Usage, "default") {
				t.Errorf("%s --%s says its default twice: %s", cmd.CommandPath(), flag.Name, flag.Usage)
			}
		})
	})
}

// forEachCommand visits a command and those below it.
func forEachCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, below := range cmd.Commands() {
		forEachCommand(below, visit)
	}
}
