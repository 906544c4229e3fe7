package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// Options contains the functions that the program must provide, because this package cannot
// implement them.
type Options struct {
	// AddToken stores a token directly in a database, without a server. It returns the
	// token and its secret.
	AddToken func(ctx context.Context, db string, token access.Token) (access.Token, string, error)
	// DatabaseFlags adds the flags that specify a database: --db, whose value goes to db,
	// and --db-file.
	DatabaseFlags func(flags *pflag.FlagSet, db *string, fallback string)
	// Database sets --db from --db-file or the environment, if they specify a database.
	Database func(cmd *cobra.Command, args []string) error
}

// Commands returns all commands that users run against a server.
func Commands(options Options) []*cobra.Command {
	s := &session{options: options}
	return []*cobra.Command{
		s.jobCommand(), s.scheduleCommand(), s.calendarCommand(), s.batchCommand(), s.bulkCommand(), s.sweepCommand(), s.tenantCommand(), s.queueCommand(), s.kindCommand(), s.nodeCommand(), s.limitCommand(), s.alertCommand(), s.holdCommand(),
		s.taskCommand(), s.applyCommand(), s.exportCommand(), s.tokenCommand(), s.whoamiCommand(), s.readyCommand(), s.auditCommand(), s.statsCommand(), s.verifyCommand(), s.eraseCommand(), s.topCommand(), s.contextCommand(),
	}
}

// session holds the flags common to all commands.
type session struct {
	options   Options
	server    string
	token     string
	tokenFile string
	context   string
	timeout   time.Duration
	format    string
}

const defaultServer = "http://127.0.0.1:7717"

// connects adds the flags that select a server to a command and its subcommands.
func (s *session) connects(cmd *cobra.Command) *cobra.Command {
	f := cmd.PersistentFlags()
	f.StringVar(&s.server, "server", "", "URL of the server (env FAIRLEAD_SERVER; default: the server of the current context, or "+defaultServer+")")
	f.StringVar(&s.token, "token", "", "API token (env FAIRLEAD_TOKEN; default: the token of the current context); visible in process lists, so prefer --token-file")
	f.StringVar(&s.tokenFile, "token-file", "", "file with the API token (env FAIRLEAD_TOKEN_FILE; default: the token of the current context)")
	f.StringVar(&s.context, "context", "", "context to use (env FAIRLEAD_CONTEXT; default: the current context; see fairlead context)")
	f.DurationVar(&s.timeout, "timeout", 30*time.Second, "maximum time to wait for a response from the server")
	complete(cmd, "context", s.contextNames)
	return cmd
}

// prints adds the flag for the output format to a command and its subcommands.
func (s *session) prints(cmd *cobra.Command) *cobra.Command {
	cmd.PersistentFlags().StringVarP(&s.format, "output", "o", "table", "output format: table, json or yaml")
	complete(cmd, "output", oneOf("table", "json", "yaml"))
	return cmd
}

// call is one execution of a command: its server, arguments, input and output.
type call struct {
	*clients
	*printer
	args   []string
	in     io.Reader
	errors *screen.Screen // for output other than the response
}

// runs returns the function of a command that calls the server.
func (s *session) runs(do func(ctx context.Context, c *call) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := s.open(cmd, args)
		if err != nil {
			return err
		}
		return c.explained(cmd.Context(), cmd, do(cmd.Context(), c))
	}
}

func (s *session) open(cmd *cobra.Command, args []string) (*call, error) {
	if s.format == "" {
		s.format = "table" // the command has no such flag
	}
	printer, err := newPrinter(cmd.OutOrStdout(), s.format)
	if err != nil {
		return nil, err
	}
	target, err := s.target(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return &call{
		clients: newClients(target, s.timeout), printer: printer, args: args, in: cmd.InOrStdin(), errors: screen.New(cmd.ErrOrStderr(), os.Getenv),
	}, nil
}
