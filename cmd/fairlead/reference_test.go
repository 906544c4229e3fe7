package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

//go:generate go test -run ^TestTheReferenceOf -update .

var update = flag.Bool("update", false, "rewrite the generated parts of docs/reference")

// generatedBelow is the line of a page above which people write.
const generatedBelow = "<!-- What follows is generated from the program: make generate rewrites it. -->\n"

// TestTheReferenceOfTheCommandLineIsThatOfTheProgram keeps docs/reference/cli.md true:
// every command with its flags.
func TestTheReferenceOfTheCommandLineIsThatOfTheProgram(t *testing.T) {
	root := newRootCommand()
	addCompletion(root)
	var page strings.Builder
	asking := serverFlags(t, root)
	page.WriteString("## Connection flags\n\n")
	writeFlags(&page, asking)
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			writeCommand(&page, cmd, "##", flagTexts(asking))
		}
	}
	checkGenerated(t, "../../docs/reference/cli.md", page.String())
}

// settingGroups are the groups of docs/reference/configuration.md, in the order in which a
// reader needs them. A new flag of serve belongs to one of them.
var settingGroups = []struct {
	group string
	flags []string
}{
	{"Configuration file and demo", []string{"config", "demo"}},
	{"Database", []string{"db", "db-file", "db-listen", "db-wait", "wake-addr"}},
	{"Dispatch", []string{"slots", "queue", "queue-size", "claim-batch", "poll", "blocking-count-limit"}},
	{"Leases and shutdown", []string{"beat", "lease", "grace", "drain-timeout"}},
	{"Node identity", []string{"node-name", "advertise"}},
	{"HTTP service", []string{"addr", "public-url", "tls-cert", "tls-key"}},
	{"Authentication", []string{"token-file", "oidc-issuer", "oidc-audience", "oidc-client-secret-file", "oidc-role-claim", "oidc-tenants-claim"}},
	{"HTTP calls of jobs", []string{"request-timeout", "allow-target", "allow-secret", "target-max-running", "target-max-failures"}},
	{"Encryption", []string{"seal-keys"}},
	{"Retention", []string{"retention", "kind-retention", "hold-retention"}},
	{"Sweeps and connectors", []string{"max-sweeps", "sweep-files", "sweep-database", "cdc"}},
	{"Observability", []string{"log-format", "log-level", "admin-addr", "otlp-endpoint"}},
}

// TestTheReferenceOfSettingsIsThatOfServe keeps docs/reference/configuration.md true:
// every setting with its flag, variable, key, default and meaning.
func TestTheReferenceOfSettingsIsThatOfServe(t *testing.T) {
	flags := newServeCommand().Flags()
	grouped := map[string]int{}
	var page strings.Builder
	for _, setting := range settingGroups {
		fmt.Fprintf(&page, "## %s\n\n| Flag | Variable | Key | Default | Description |\n|---|---|---|---|---|\n", setting.group)
		for _, name := range setting.flags {
			grouped[name]++
			flag := flags.Lookup(name)
			if flag == nil {
				t.Fatalf("serve has no flag --%s: remove it from the group %q", name, setting.group)
			}
			key := "`" + name + "`"
			if name == "config" {
				key = ""
			}
			fmt.Fprintf(&page, "| `--%s` | `%s` | %s | %s | %s |\n", name, variableOf(name), key, defaultText(flag), usageText(flag))
		}
		page.WriteString("\n")
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if grouped[flag.Name] != 1 {
			t.Errorf("--%s is in %d groups of settings, not in one", flag.Name, grouped[flag.Name])
		}
	})
	page.WriteString("## Deprecated keys\n\n| Key | Replaced by |\n|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(aliases)) {
		fmt.Fprintf(&page, "| `%s` | `%s` |\n", key, aliases[key])
	}
	checkGenerated(t, "../../docs/reference/configuration.md", page.String())
}

// checkGenerated compares the generated part of a page with the wanted content, or writes
// that content.
func checkGenerated(t *testing.T, file, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, got, found := strings.Cut(string(text), generatedBelow)
	if !found {
		t.Fatalf("%s has no line %q", file, generatedBelow)
	}
	want = "\n" + strings.ReplaceAll(strings.TrimSpace(want), "\n\n\n", "\n\n") + "\n"
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the program has; make generate rewrites it as\n%s", file, want)
	}
	if err := os.WriteFile(file, []byte(written+generatedBelow+want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// serverFlags returns the flags shared by the commands that call a server.
func serverFlags(t *testing.T, root *cobra.Command) *pflag.FlagSet {
	t.Helper()
	job, _, err := root.Find([]string{"job"})
	if err != nil {
		t.Fatal(err)
	}
	return job.PersistentFlags()
}

// pagesAbout are links to the pages that explain a command, by its path.
var pagesAbout = map[string]string{
	"fairlead task": "[Legacy APIs](../tasks.md) describes the fields.",
}

// writeCommand writes a section for a command and one for each of its subcommands. The text
// about asking is written once for all commands.
func writeCommand(page *strings.Builder, cmd *cobra.Command, heading, asking string) {
	fmt.Fprintf(page, "\n%s %s\n\n", heading, cmd.CommandPath())
	if cmd.Runnable() && !cmd.HasSubCommands() {
		fmt.Fprintf(page, "    %s\n\n", cmd.UseLine())
	}
	text := strings.TrimRight(cmp.Or(cmd.Long, cmd.Short), "\n ")
	if cmd.Name() == "completion" || cmd.Parent().Name() == "completion" {
		text = cmd.Short // its long text is a manual of shells
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	fmt.Fprintf(page, "%s\n\n", escaped(text))
	if cmd.Example != "" {
		fmt.Fprintf(page, "```sh\n%s\n```\n\n", strings.ReplaceAll(strings.Trim(cmd.Example, "\n"), "  fairlead", "fairlead"))
	}
	if more := pagesAbout[cmd.CommandPath()]; more != "" {
		page.WriteString(more + "\n\n")
	}
	if cmd.Name() == "serve" {
		page.WriteString("Its flags are described in [settings](configuration.md).\n\n")
	} else {
		writeFlags(page, cmd.LocalNonPersistentFlags())
	}
	if shared := flagTexts(cmd.PersistentFlags()); shared == asking {
		page.WriteString("It also accepts the [connection flags](#connection-flags).\n\n")
	} else if shared != "" {
		if cmd.HasSubCommands() {
			page.WriteString("All subcommands also accept:\n\n")
		}
		page.WriteString(shared + "\n")
	}
	for _, below := range cmd.Commands() {
		if !below.Hidden {
			writeCommand(page, below, "###", asking)
		}
	}
}

func writeFlags(page *strings.Builder, flags *pflag.FlagSet) {
	if text := flagTexts(flags); text != "" {
		page.WriteString(text + "\n")
	}
}

// flagTexts returns a table of flags, or an empty string if there are none but --help.
func flagTexts(flags *pflag.FlagSet) string {
	var rows strings.Builder
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		name := "`--" + flag.Name + "`"
		if flag.Shorthand != "" {
			name += ", `-" + flag.Shorthand + "`"
		}
		kind, _ := pflag.UnquoteUsage(flag)
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", name, kind, defaultText(flag), usageText(flag))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "| Flag | Type | Default | Description |\n|---|---|---|---|\n" + rows.String()
}

// defaultText returns the default of a flag, in a form that is the same on every machine.
func defaultText(flag *pflag.Flag) string {
	switch value := flag.DefValue; {
	case flag.Name == "node-name":
		return "the machine's name"
	case value == "", value == "[]", value == "false", value == "0", value == "0s":
		return ""
	default:
		return "`" + strings.Trim(value, "[]") + "`"
	}
}

func usageText(flag *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(flag)
	return strings.ReplaceAll(escaped(usage), "|", "\\|")
}

// escaped returns a text of the program in a form that Markdown displays unchanged.
// Indented lines are code.
func escaped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "  " + line
		} else {
			lines[i] = strings.NewReplacer("<", "&lt;", "*", "\\*", "_", "\\_").Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}
