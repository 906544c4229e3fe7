package cli

import (
	"context"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// bulkActions lists the actions that can be applied to many jobs in the background.
var bulkActions = []string{"cancel", "retry", "run", "delete", "prioritize", "move"}

func (s *session) bulkCommand() *cobra.Command {
	return s.prints(s.connects(noun("bulk", "Act on many jobs at once, in the background",
		s.bulkStartCommand(), s.bulkGetCommand(), s.bulkListCommand(), s.bulkMissesCommand(), s.bulkWatchCommand(), s.bulkStopCommand(),
	)))
}

func (s *session) bulkStartCommand() *cobra.Command {
	var filter jobFilter
	var ids []int64
	var wait waiting
	var yes bool
	var once string
	wanted := &fairleadv1.NewBulk{}
	cmd := verb("start ACTION", "Apply an action to all matching jobs: "+strings.Join(bulkActions, ", "), nil)
	cmd.Long = cmd.Short + ".\n\nA node carries out the action in the background, even if this command and the server stop. " +
		"On a terminal, cancel and delete ask for confirmation; without a terminal they require --yes."
	cmd.Example = "  fairlead bulk start retry --state failed --kind report --from 2h --wait\n" +
		"  fairlead bulk start retry --kind mail --error 'dial tcp 10.0.0.7:25: connection refused'\n" +
		"  fairlead bulk start move --queue mail --queue-to spare --rate 500\n" +
		"  fairlead bulk start delete --state succeeded --to 30d --dry-run"
	cmd.RunE = s.runs(func(ctx context.Context, c *call) error {
		wanted.Action, wanted.Filter = c.args[0], filter.chosen(ids)
		if !slices.Contains(bulkActions, wanted.GetAction()) {
			return Usagef("unknown action %q: use %s", wanted.GetAction(), strings.Join(bulkActions, ", "))
		}
		if !wanted.GetDryRun() && !yes && irrevocable(wanted.GetAction()) {
			err := c.askBulk(wanted.GetAction(), func() (counted, error) {
				return c.bulks.CreateBulk(ctx, &fairleadv1.NewBulk{Action: wanted.GetAction(), Filter: wanted.GetFilter(), Cause: wanted.GetCause(), DryRun: true})
			})
			if err != nil {
				return err
			}
		}
		keyed, request := connect.NewClientContext(ctx)
		if once != "" {
			request.RequestHeader().Set("Idempotency-Key", once)
		}
		bulk, err := c.bulks.CreateBulk(keyed, wanted)
		switch {
		case err != nil:
			return err
		case wanted.GetDryRun():
			return c.say(bulk, "%s would affect %s", wanted.GetAction(), matched(bulk))
		case wait.asked(cmd):
			return wait.bulk(ctx, c, bulk.GetId())
		}
		return c.say(bulk, "bulk action %d will %s %s", bulk.GetId(), bulk.GetAction(), matched(bulk))
	})
	s.filters(cmd, &filter)
	f := cmd.Flags()
	f.Int64SliceVar(&ids, "id", nil, "only the job with this ID (repeatable)")
	f.StringVar(&wanted.Cause, "error", "", "only jobs whose error matches this text, ignoring differences in numbers, IDs, quoted strings, times and addresses")
	f.StringVar(&wanted.Reason, "reason", "", "reason to record with the bulk action (default: none)")
	f.Int32Var(&wanted.Priority, "priority", 0, "new priority of the jobs (only for the action prioritize)")
	f.StringVar(&wanted.Queue, "queue-to", "", "new queue of the jobs (only for the action move)")
	f.Float64Var(&wanted.Rate, "rate", 0, "maximum number of jobs changed per second (0 = as fast as possible without slowing other work)")
	f.BoolVar(&wanted.DryRun, "dry-run", false, "count the matching jobs without changing them")
	f.StringVar(&once, "once", "", "idempotency key: repeating the command with the same key within a day has no further effect (default: none)")
	f.BoolVarP(&yes, "yes", "y", false, "skip the confirmation prompt")
	wait.flag(cmd)
	complete(cmd, "queue-to", s.asked(queueNames))
	cmd.ValidArgsFunction = first(oneOf(bulkActions...))
	return cmd
}

func (s *session) bulkGetCommand() *cobra.Command {
	return verb("get ID", "Show a bulk action", s.withID(func(ctx context.Context, c *call, id int64) error {
		return c.printDetails(c.bulks.GetBulk(ctx, &fairleadv1.GetBulkRequest{Id: id}))
	}))
}

func (s *session) bulkListCommand() *cobra.Command {
	var limit int
	cmd := verb("list", "List bulk actions, newest first", s.runs(func(ctx context.Context, c *call) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListBulksResponse, error) {
			return c.bulks.ListBulks(ctx, &fairleadv1.ListBulksRequest{PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("ID", "STATE", "ACTION", "DONE", "MISSED", "MATCHED", "BY", "CREATED", "REASON")
		for _, b := range items {
			table.Add(b.GetId(), screen.State(b.GetState()), b.GetAction(), b.GetDone(), b.GetMissed(), bulkWhole(b), b.GetActor(), b.GetCreatedAt(), b.GetReason())
		}
		return c.printTable(&fairleadv1.ListBulksResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func (s *session) bulkMissesCommand() *cobra.Command {
	var limit int
	cmd := verb("misses ID", "List the jobs that a bulk action skipped, with the reasons", s.withID(func(ctx context.Context, c *call, id int64) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListBulkMissesResponse, error) {
			return c.bulks.ListBulkMisses(ctx, &fairleadv1.ListBulkMissesRequest{Id: id, PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("JOB", "REASON")
		for _, miss := range items {
			table.Add(miss.GetJob(), miss.GetWhy())
		}
		return c.printTable(&fairleadv1.ListBulkMissesResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func (s *session) bulkStopCommand() *cobra.Command {
	return verb("stop ID", "Stop a bulk action; jobs not yet processed stay unchanged", s.withID(func(ctx context.Context, c *call, id int64) error {
		bulk, err := c.bulks.StopBulk(ctx, &fairleadv1.GetBulkRequest{Id: id})
		if err != nil {
			return err
		}
		return c.say(bulk, "bulk action %d is stopping", id)
	}))
}
