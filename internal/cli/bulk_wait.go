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

func (s *session) bulkWatchCommand() *cobra.Command {
	return verb("watch ID", "Print the state of a bulk action on every change until it ends", s.withID(func(ctx context.Context, c *call, id int64) error {
		bulk, err := c.followBulk(ctx, id, func(bulk *fairleadv1.Bulk) error {
			return c.say(bulk, "%s  bulk action %d: %s", c.Now().Format(time.TimeOnly), id, bulkLine(bulk))
		})
		if err != nil {
			return err
		}
		return bulkEnded(bulk)
	}))
}

func (c *call) followBulk(ctx context.Context, id int64, see func(*fairleadv1.Bulk) error) (*fairleadv1.Bulk, error) {
	return follow(ctx, c, func(ctx context.Context) (*rpc.Stream[*fairleadv1.Bulk], error) {
		return c.bulks.WatchBulk(ctx, &fairleadv1.GetBulkRequest{Id: id})
	}, func(bulk *fairleadv1.Bulk) bool { return bulkOver(bulk) }, see)
}

func bulkOver(b *fairleadv1.Bulk) bool {
	switch b.GetState() {
	case "completed", "stopped", "failed":
		return true
	}
	return false
}

// bulkWhole returns the number of matching jobs of a bulk, as far as they were counted.
func bulkWhole(b *fairleadv1.Bulk) string {
	if b.GetMore() {
		return fmt.Sprintf("%d+", b.GetMatched())
	}
	return fmt.Sprint(b.GetMatched())
}

// bulkLine returns the progress of a bulk.
func bulkLine(b *fairleadv1.Bulk) string {
	text := fmt.Sprintf("%s  %d of %s", b.GetState(), b.GetDone(), bulkWhole(b))
	if missed := b.GetMissed(); missed > 0 {
		text += fmt.Sprintf("  %d missed", missed)
	}
	if b.GetStopping() && !bulkOver(b) {
		text += "  (stopping)"
	}
	return text
}

// bulkEnded returns an error if a bulk was not completed.
func bulkEnded(b *fairleadv1.Bulk) error {
	if b.GetState() == "completed" {
		return nil
	}
	text := fmt.Sprintf("bulk action %d %s after %s", b.GetId(), b.GetState(), jobCount(b.GetDone()))
	if reason := b.GetError(); reason != "" {
		text += " (" + screen.Clean(reason) + ")"
	}
	return failf(ExitJobFailed, "%s", text)
}

// bulk waits for a bulk to end and shows the result.
func (w *waiting) bulk(ctx context.Context, c *call, id int64) error {
	within, cancel := w.within(ctx)
	defer cancel()
	bulk, err := c.awaitBulk(within, id)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return failf(ExitFailure, "bulk action %d did not end within %s and is still running; follow it with fairlead bulk watch %d", id, w.limit, id)
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("bulk action %d: %s", id, bulkLine(bulk))
	if bulk.GetMissed() > 0 {
		text += fmt.Sprintf("; see why with fairlead bulk misses %d", id)
	}
	if err := c.say(bulk, "%s", text); err != nil {
		return err
	}
	return bulkEnded(bulk)
}

// awaitBulk follows a bulk. On a terminal, it shows the progress.
func (c *call) awaitBulk(ctx context.Context, id int64) (*fairleadv1.Bulk, error) {
	if !c.errors.Terminal {
		return c.followBulk(ctx, id, func(*fairleadv1.Bulk) error { return nil })
	}
	const width = 30
	return drawWhile(c, func(b *fairleadv1.Bulk) string {
		return fmt.Sprintf("bulk action %d %s %s", id, threeBar(b.GetDone(), b.GetMissed(), b.GetMatched(), width), bulkLine(b))
	}, func(see func(*fairleadv1.Bulk) error) (*fairleadv1.Bulk, error) { return c.followBulk(ctx, id, see) })
}
