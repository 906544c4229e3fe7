package cli

import (
	"context"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) sweepLogsCommand() *cobra.Command {
	filter := &fairleadv1.ListSweepLogsRequest{}
	var limit int
	var index int64
	cmd := verb("logs NAME", "Show the log of a sweep, newest entries first", nil)
	cmd.RunE = s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		filter.Id = about.GetId()
		if cmd.Flags().Changed("index") {
			filter.Index = &index
		}
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListSweepLogsResponse, error) {
			filter.PageSize, filter.PageToken = size, token
			return c.sweeps.ListSweepLogs(ctx, filter)
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("AT", "LEVEL", "INDEX", "TEXT")
		for _, line := range items {
			table.Add(line.GetAt(), levelCell(line.GetLevel()), line.GetIndex(), line.GetText())
		}
		return c.printTable(&fairleadv1.ListSweepLogsResponse{Items: items, NextPageToken: next}, table)
	})
	levels := []string{"debug", "info", "warn", "error"}
	cmd.Flags().StringSliceVar(&filter.Level, "level", nil, "only entries of this level: debug, info, warn or error (repeatable)")
	cmd.Flags().Int64Var(&index, "index", 0, "only entries about the item with this index")
	complete(cmd, "level", oneOf(levels...))
	limits(cmd, &limit)
	return cmd
}

// levelCell returns the cell of a log level in its tone.
func levelCell(level string) screen.Cell {
	tones := map[string]screen.Tone{"debug": screen.Faint, "warn": screen.Warn, "error": screen.Bad}
	return screen.Cell{Text: level, Tone: tones[level]}
}

func (s *session) sweepFailedCommand() *cobra.Command {
	var limit int
	cmd := verb("failed NAME", "List items that failed permanently, by index", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		items, next, err := pages(limit, func(size int32, token string) (*fairleadv1.ListFailedItemsResponse, error) {
			return c.sweeps.ListFailedItems(ctx, &fairleadv1.ListFailedItemsRequest{Id: about.GetId(), PageSize: size, PageToken: token})
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("INDEX", "ATTEMPTS", "AT", "RETRY", "ERROR")
		for _, item := range items {
			retry := ""
			if item.GetAgain() {
				retry = "waits"
			}
			table.Add(item.GetIndex(), item.GetAttempts(), item.GetAt(), retry, item.GetError())
		}
		return c.printTable(&fairleadv1.ListFailedItemsResponse{Items: items, NextPageToken: next}, table)
	}))
	limits(cmd, &limit)
	return cmd
}

func (s *session) sweepHistoryCommand() *cobra.Command {
	var limit int32
	cmd := verb("history NAME", "List changes to a sweep and their authors, newest first", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		all, err := c.sweeps.ListSweepHistory(ctx, &fairleadv1.ListSweepHistoryRequest{Id: about.GetId(), PageSize: limit})
		if err != nil {
			return err
		}
		table := c.Table("AT", "ACTION", "BY", "FROM", "TO", "NOTE")
		for _, e := range all.GetItems() {
			table.Add(e.GetAt(), e.GetAction(), e.GetBy(), screen.State(e.GetFrom()), screen.State(e.GetTo()), e.GetNote())
		}
		return c.printTable(all, table)
	}))
	cmd.Flags().Int32Var(&limit, "limit", defaultLimit, "maximum number of entries to show, up to 1000")
	return cmd
}

func (s *session) sweepShardsCommand() *cobra.Command {
	return verb("shards NAME", "List the shards of a sweep and their progress", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		all, err := c.sweeps.ListShards(ctx, about)
		if err != nil {
			return err
		}
		table := c.Table("SHARD", "FROM", "TO", "MARK", "DONE", "FAILED", "ERRORS", "RATE", "IN FLIGHT", "JOB", "SAVED")
		for _, part := range all.GetItems() {
			table.Add(part.GetNumber(), part.GetFrom(), part.GetTo(), part.GetMark(), part.GetDone(), part.GetAbandoned(), part.GetErrors(),
				perSecond(part.GetMeasured()), part.GetInFlight(), part.GetJobId(), part.GetSavedAt())
		}
		return c.printTable(all, table)
	}))
}
