package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// scheduleTestCommand returns the command that makes the call of a schedule and prints its
// result in the form stored for runs. It fails under the same conditions as a command that
// waits for a run.
func (s *session) scheduleTestCommand() *cobra.Command {
	var args string
	cmd := verb("test NAME", "Send the HTTP request of a schedule once, without creating a job", nil)
	cmd.RunE = s.runs(func(ctx context.Context, c *call) (err error) {
		request := &fairleadv1.TestScheduleRequest{Id: c.args[0]}
		if cmd.Flags().Changed("args") {
			if request.Args, err = readDocument("--args", args, c.in); err != nil {
				return err
			}
		}
		return c.printTested(c.schedules.TestSchedule(ctx, request))
	})
	cmd.Flags().StringVar(&args, "args", "", "input for this call: JSON, @FILE, or - for standard input (default: the schedule's input)")
	return cmd
}

// printTested prints a call that was made for a test. It returns an error if a run of the
// schedule would fail.
func (c *call) printTested(tested *fairleadv1.TestScheduleResponse, err error) error {
	if err := c.printDetails(tested, err); err != nil || tested.GetSuccess() {
		return err
	}
	return failf(ExitJobFailed, "the call failed; a run of schedule %s would fail too", c.args[0])
}

// testsCall adds the flag to test the HTTP call of a schedule instead of saving it.
func testsCall(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("test", false, "save nothing; make the HTTP call once, now, and show the response")
}
