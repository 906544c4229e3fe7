package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// noun returns a command that consists only of its subcommands.
func noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
	}
	OnlyCommands(cmd)
	cmd.AddCommand(verbs...)
	return cmd
}

// OnlyCommands marks cmd as a group of subcommands. Without arguments, the command shows its
// help. An unknown subcommand is a usage error, which scripts can detect.
func OnlyCommands(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var known []string
		for _, verb := range cmd.Commands() {
			if verb.IsAvailableCommand() {
				known = append(known, verb.Name())
			}
		}
		return Usagef("%s has no command %q: use %s", cmd.CommandPath(), args[0], strings.Join(known, ", "))
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// verb returns a command that performs an action. Its use string declares its arguments:
// NAME is required, [NAME] is optional.
func verb(use, short string, do func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: takes(strings.Fields(use)[1:]), RunE: do}
}

// takes rejects too many or too few arguments as a usage error.
func takes(names []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return Usagef("%s takes no argument %q (see %s --help)", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		for i, name := range names {
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return Usagef("%s needs %s (see %s --help)", cmd.CommandPath(), name, cmd.CommandPath())
			}
		}
		return nil
	}
}

func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return 0, Usagef("ID %q must be a positive integer", text)
	}
	return id, nil
}
