package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/fairlead-io/fairlead/internal/cli"
)

// version is set by the build; otherwise it is what the module system knows.
var version = ""

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "fairlead",
		Short:         "A distributed scheduler for durable work, on the SQL database you already run",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cli.OnlyCommands(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(newServeCommand(), newMigrateCommand(), newRestoredCommand(), newBenchCommand(), newDemoCommand(), newVersionCommand())
	root.AddCommand(cli.Commands(cli.Options{AddToken: addToken, DatabaseFlags: databaseFlags, Database: databaseFrom})...)
	return root
}

// addCompletion adds the command that cobra would add otherwise, which shows its help
// for a shell that it does not know. It writes to where root writes by then.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cli.OnlyCommands(cmd)
		}
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "fairlead %s %s %s/%s\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
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

// noArguments refuses arguments as the usage error that they are.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q (see %s --help)", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}
