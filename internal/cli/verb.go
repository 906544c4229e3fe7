package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// noun is a command that is only there for its verbs.
func noun(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
	}
	OnlyCommands(cmd)
	cmd.AddCommand(verbs...)
	return cmd
}

// OnlyCommands lets a command be there only for those below it. Alone it shows its
// help; one that is not below it is a mistake of usage, which a script must notice.
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

// verb is a command that does something. Its use says what it takes: NAME must
// be given, [NAME] may be.
func verb(use, short string, do func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: takes(strings.Fields(use)[1:]), RunE: do}
}

// takes refuses arguments that are too many or too few, as a mistake of usage.
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
