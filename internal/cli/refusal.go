package cli

import (
	"context"
	"errors"
	"net"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// explained converts a call's error to an error for the user who typed the command.
func (c *call) explained(ctx context.Context, cmd *cobra.Command, err error) error {
	var refusal *connect.Error
	if err == nil || !errors.As(err, &refusal) {
		return err
	}
	if ctx.Err() != nil {
		return failf(ExitFailure, "interrupted")
	}
	code, text := exits[refusal.Code()], screen.Clean(refusal.Message())
	if code == ExitOK {
		code = ExitFailure
	}
	switch {
	case !connect.IsWireError(err) && refusal.Code() == connect.CodeDeadlineExceeded:
		text = c.url + " did not answer within " + c.timeout.String() + "; use --timeout to wait longer"
	case !connect.IsWireError(err) && refusal.Code() != connect.CodeUnimplemented && rpc.Passes(err):
		code = ExitUnavailable // a connection reset has another code
		text = "cannot reach " + c.url + ": " + cause(refusal) + "; start it with fairlead serve, or use another server with --server"
	case refusal.Code() == connect.CodeUnimplemented:
		text = c.url + " does not support this request (" + text + "): check that --server is a Fairlead server at least as new as this program"
	case refusal.Code() == connect.CodeUnauthenticated:
		text += "; set a valid token with FAIRLEAD_TOKEN, --token-file or a context"
	}
	if lines := refusedFields(cmd, refusal); len(lines) > 0 {
		text = strings.Join(lines, "\n")
	}
	return failf(code, "%s", text)
}

// cause returns the network's error without the addresses, which the message contains
// anyway.
func cause(err error) string {
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Err.Error()
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return screen.Clean(err.Error())
}

// refusedFields returns one line for each invalid field.
func refusedFields(cmd *cobra.Command, refusal *connect.Error) (lines []string) {
	for _, detail := range refusal.Details() {
		value, err := detail.Value()
		if err != nil {
			continue // the message contains it too
		}
		fields, ok := value.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, f := range fields.GetFieldViolations() {
			lines = append(lines, screen.Clean(typedAs(cmd, f.GetField())+": "+f.GetDescription()))
		}
	}
	return lines
}

// Typed converts an error that this program itself has returned. The result lists each
// invalid field on its own line, under the name that the user typed.
func Typed(cmd *cobra.Command, err error) error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	var lines []string
	for _, f := range invalid.Fields {
		lines = append(lines, typedAs(cmd, f.Field)+": "+f.Message)
	}
	return Usagef("%s", strings.Join(lines, "\n"))
}

// typedAs returns the name of a field on the command line: the flag, or the argument in
// capitals. Fields from a file or from the value of --args keep their path.
func typedAs(cmd *cobra.Command, field string) string {
	if file := cmd.Flags().Lookup("file"); file != nil && file.Changed {
		return field
	}
	if args := cmd.Flags().Lookup("args"); args != nil && args.Changed && strings.Contains("."+field, ".args.") {
		return field
	}
	last := field[strings.LastIndex(field, ".")+1:]
	last, _, _ = strings.Cut(last, "[")
	for _, name := range []string{strings.ReplaceAll(last, "_", "-"), strings.TrimSuffix(last, "s")} { // lists are repeated flags
		if cmd.Flags().Lookup(name) != nil {
			return "--" + name
		}
	}
	if argument := strings.ToUpper(last); strings.Contains(cmd.Use, argument) {
		return argument
	}
	return field
}
