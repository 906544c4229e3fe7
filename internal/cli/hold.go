package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// historyBar is the width of the bars in a history.
const historyBar = 20

func (s *session) holdCommand() *cobra.Command {
	return s.prints(s.connects(noun("hold", "Show what kept jobs waiting, and when", s.holdListCommand())))
}

func (s *session) holdListCommand() *cobra.Command {
	var filter fairleadv1.ListHoldsRequest
	from, to := moment{past: true}, moment{past: true}
	var limit int
	cmd := verb("list", "List holds (the reasons that kept jobs waiting), newest first", s.runs(func(ctx context.Context, c *call) error {
		var last *fairleadv1.ListHoldsResponse
		items, next, err := pages(limit, func(size int32, token string) (page *fairleadv1.ListHoldsResponse, err error) {
			last, err = c.holds.ListHolds(ctx, &fairleadv1.ListHoldsRequest{
				Queue: filter.GetQueue(), Tenant: filter.GetTenant(), Kind: filter.GetKind(), From: from.proto(), To: to.proto(),
				PageSize: size, PageToken: token,
			})
			return last, err
		})
		if err != nil {
			return err
		}
		c.noteMore(next, limit)
		table := c.Table("FROM", "DURATION", "CODE", "REASON")
		for _, h := range items {
			table.Add(h.GetFrom(), spanCell(h.GetFrom().AsTime(), endOr(h.GetUntil() != nil, h.GetUntil().AsTime(), last.GetAt().AsTime()), h.GetUntil() == nil), h.GetCode(), h.GetText())
		}
		return c.printTable(&fairleadv1.ListHoldsResponse{Items: items, NextPageToken: next, At: last.GetAt(), Since: last.GetSince()}, table)
	}))
	f := cmd.Flags()
	f.StringVar(&filter.Queue, "queue", "", "only holds that affected jobs in this queue")
	f.StringVar(&filter.Tenant, "tenant", "", "only holds that affected jobs of this tenant")
	f.StringVar(&filter.Kind, "kind", "", "only holds that affected jobs of this kind")
	f.Var(&from, "from", "only holds that ended after this time or are ongoing: a timestamp, or a duration such as 24h for a day ago")
	f.Var(&to, "to", "only holds that began before this time: a timestamp, or a duration such as 1h for an hour ago")
	limits(cmd, &limit)
	return cmd
}

// tellHistory prints what a job waited for, as a table with a bar for each period.
func (c *call) tellHistory(ctx context.Context, id int64) error {
	history, err := c.jobs.GetJobHistory(ctx, &fairleadv1.GetJobRequest{Id: id})
	if err != nil {
		return err
	}
	stretches, now := history.GetStretches(), history.GetAt().AsTime()
	if c.format == "table" && len(stretches) == 0 {
		_, err := fmt.Fprintf(c.Out, "job %d %s and has not waited\n", history.GetId(), inState(history.GetState()))
		return err
	}
	var whole time.Duration
	for _, s := range stretches {
		whole += endOr(s.GetUntil() != nil, s.GetUntil().AsTime(), now).Sub(s.GetFrom().AsTime())
	}
	table := c.Table("ATTEMPT", "FROM", "DURATION", "SHARE", "REASON")
	for _, s := range stretches {
		until := endOr(s.GetUntil() != nil, s.GetUntil().AsTime(), now)
		share := screen.Bar(int(until.Sub(s.GetFrom().AsTime()).Milliseconds()), int(whole.Milliseconds()), historyBar)
		texts := make([]string, len(s.GetCauses()))
		for i, o := range s.GetCauses() {
			texts[i] = o.GetText()
		}
		table.Add(s.GetRun(), s.GetFrom(), spanCell(s.GetFrom().AsTime(), until, s.GetUntil() == nil), share, strings.Join(texts, "; "))
	}
	return c.printTable(history, table)
}

// endOr returns the end of a period, or now if it is ongoing.
func endOr(ended bool, end, now time.Time) time.Time {
	if ended {
		return end
	}
	return now
}

// spanCell returns the duration of a period, which may be ongoing.
func spanCell(from, until time.Time, lasts bool) string {
	span := screen.Span(until.Sub(from))
	if lasts {
		return span + " so far"
	}
	return span
}
