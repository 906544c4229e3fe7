package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) batchWatchCommand() *cobra.Command {
	return verb("watch ID", "Print the state of a batch on every change until it completes", s.withID(func(ctx context.Context, c *call, id int64) error {
		batch, err := c.followBatch(ctx, id, func(batch *fairleadv1.Batch) error {
			return c.say(batch, "%s  batch %d: %s", c.Now().Format(time.TimeOnly), id, batchLine(batch, c.Now()))
		})
		if err != nil {
			return err
		}
		return batchEnded(batch)
	}))
}

func (c *call) followBatch(ctx context.Context, id int64, see func(*fairleadv1.Batch) error) (*fairleadv1.Batch, error) {
	return follow(ctx, c, func(ctx context.Context) (*rpc.Stream[*fairleadv1.Batch], error) {
		return c.batches.WatchBatch(ctx, &fairleadv1.GetBatchRequest{Id: id})
	}, func(batch *fairleadv1.Batch) bool { return batch.GetEndedAt() != nil }, see)
}

// batchLine returns the progress of a batch.
func batchLine(b *fairleadv1.Batch, now time.Time) string {
	text := fmt.Sprintf("%s  %d of %d", b.GetState(), b.GetDone(), b.GetTotal())
	if n := failures(b); n > 0 {
		text += fmt.Sprintf("  %d failed", n)
	}
	if b.GetEndedAt() == nil {
		if speed := b.GetThroughput(); speed > 0 {
			text += fmt.Sprintf("  %.4g/s", speed)
		}
		if b.GetEta() != nil {
			text += "  " + screen.Span(max(b.GetEta().AsTime().Sub(now), 0)) + " left"
		}
	}
	if note := batchNote(b); note != "" {
		text += "  (" + note + ")"
	}
	return screen.Clean(text)
}

// batchEnded returns an error if a batch did not succeed.
func batchEnded(b *fairleadv1.Batch) error {
	switch b.GetState() {
	case "success", "rollback_success":
		return nil
	}
	text := fmt.Sprintf("batch %d ended in state %s: %d of %s failed", b.GetId(), b.GetState(), failures(b), taskCount(b.GetTotal()))
	if reason := b.GetReason(); reason != "" {
		text += " (" + screen.Clean(reason) + ")"
	}
	return failf(ExitJobFailed, "%s; list the tasks with fairlead batch tasks %d", text, b.GetId())
}

// batch waits for a batch to complete and shows the result. It returns an error if the
// batch did not succeed.
func (w *waiting) batch(ctx context.Context, c *call, id int64) error {
	within, cancel := w.within(ctx)
	defer cancel()
	batch, err := c.awaitBatch(within, id)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return failf(ExitFailure, "batch %d did not complete within %s and is still running; follow it with fairlead batch watch %d", id, w.limit, id)
	}
	if err != nil {
		return err
	}
	if err := c.say(batch, "batch %d %s", id, batchLine(batch, c.Now())); err != nil {
		return err
	}
	if err := c.showFailures(ctx, batch); err != nil {
		return err
	}
	return batchEnded(batch)
}

// shownFailures is the maximum number of failed tasks in a summary.
const shownFailures = 20

// showFailures lists failed tasks in table output.
func (c *call) showFailures(ctx context.Context, batch *fairleadv1.Batch) error {
	if failures(batch) == 0 || c.format != "table" {
		return nil
	}
	failed, err := c.listTasks(ctx, &fairleadv1.ListBatchTasksRequest{Id: batch.GetId(), State: []string{"fail", "rollback_fail"}}, shownFailures)
	if err != nil {
		return err
	}
	if err := taskTable(c.Screen, failed.GetItems()).Write(); err != nil {
		return err
	}
	if failed.GetNextPageToken() != "" {
		fmt.Fprintf(c.errors.Out, "showing the first %d of %d; list all with fairlead batch tasks %d --state fail,rollback_fail --limit 0\n", shownFailures, failures(batch), batch.GetId())
	}
	return nil
}

// awaitBatch follows a batch. On a terminal, it shows the progress. Elsewhere, it reports
// when the batch is paused or awaits approval.
func (c *call) awaitBatch(ctx context.Context, id int64) (*fairleadv1.Batch, error) {
	if c.errors.Terminal {
		return c.awaitWithBar(ctx, id)
	}
	shown := ""
	return c.followBatch(ctx, id, func(batch *fairleadv1.Batch) error {
		note := ""
		if batch.GetPaused() || batch.GetAwaiting() {
			note = batchNote(batch)
		}
		if note != shown && note != "" {
			fmt.Fprintf(c.errors.Out, "batch %d: %s\n", id, screen.Clean(note))
		}
		shown = note
		return nil
	})
}

// awaitWithBar draws a progress bar while it follows a batch.
func (c *call) awaitWithBar(ctx context.Context, id int64) (*fairleadv1.Batch, error) {
	return drawWhile(c, func(batch *fairleadv1.Batch) string { return batchBar(batch, c.Now()) }, func(see func(*fairleadv1.Batch) error) (*fairleadv1.Batch, error) {
		return c.followBatch(ctx, id, see)
	})
}

// batchBar returns the progress bar of a batch.
func batchBar(batch *fairleadv1.Batch, now time.Time) string {
	const width = 30
	return fmt.Sprintf("batch %d %s %.0f%% %s", batch.GetId(), screen.Bar(int(batch.GetDone()), int(batch.GetTotal()), width), 100*batch.GetProgress(), batchLine(batch, now))
}
