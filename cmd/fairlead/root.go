package main

import (
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/internal/cli"
)

// version and commit are set by the build; otherwise the module version and the build
// information are used.
var version, commit = "", ""

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "fairlead",
		Short:         "Run background jobs and schedules on the SQL database you already have",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cli.OnlyCommands(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(newServeCommand(), newMigrateCommand(), newRestoredCommand(), newBenchCommand(), newDemoCommand(), newVersionCommand())
	root.AddCommand(cli.Commands(cli.Options{AddToken: addToken, DatabaseFlags: databaseFlags, Database: databaseFrom})...)
	group(root)
	hideEmptyDefaults(root)
	return root
}

// hideEmptyDefaults hides the default of empty lists. pflag itself hides it for lists of
// strings, if it is [], and shows it for other types.
func hideEmptyDefaults(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.DefValue == "[]" && !slices.Contains([]string{"stringArray", "stringSlice"}, flag.Value.Type()) {
			flag.DefValue = ""
		}
	})
	for _, below := range cmd.Commands() {
		hideEmptyDefaults(below)
	}
}

// commandGroups lists the sections of the root help with their commands. Commands common to
// all programs, such as help and version, belong to none.
var commandGroups = []struct {
	title    string
	commands []string
}{
	{"Run", []string{"serve", "demo", "ready", "stats", "top"}},
	{"Work", []string{"job", "schedule", "calendar", "task", "batch", "bulk", "sweep", "alert"}},
	{"Capacity", []string{"tenant", "queue", "kind", "limit", "node", "hold"}},
	{"Access", []string{"context", "token", "whoami", "audit"}},
	{"Maintain", []string{"migrate", "apply", "export", "verify", "erase", "restored", "bench"}},
}

// group assigns the commands of root to the sections of its help.
func group(root *cobra.Command) {
	for _, section := range commandGroups {
		root.AddGroup(&cobra.Group{ID: section.title, Title: section.title + ":"})
		for _, cmd := range root.Commands() {
			if slices.Contains(section.commands, cmd.Name()) {
				cmd.GroupID = section.title
			}
		}
	}
}

// addCompletion adds the completion command. The one that cobra adds by default shows its
// help for an unknown shell. The command writes to the output that root has at run time.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cli.OnlyCommands(cmd)
		}
	}
}

func newVersionCommand() *cobra.Command {
	return cli.VersionCommand(cli.Build{Version: versionText(), Commit: commitText(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH})
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// commitText returns the commit that the program was built from, with "+dirty" if files had
// been changed, or an empty string if unknown.
func commitText() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, setting := range info.Settings {
		settings[setting.Key] = setting.Value
	}
	revision := settings["vcs.revision"]
	if revision != "" && settings["vcs.modified"] == "true" {
		revision += "+dirty"
	}
	return revision
}

// noArguments rejects arguments with a usage error.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q (see %s --help)", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
