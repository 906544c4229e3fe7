package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// maxLogText is how many bytes a line about an item has at most.
const maxLogText = 4000

// logLevels are the levels of lines about items, the least first.
var logLevels = []string{"debug", "info", "warn", "error"}

// Log stores either all given log lines about a sweep's items or none. A line's default
// level is info. Log returns ErrInvalid if a line is invalid, and ErrNotFound if the sweep
// does not exist.
func (c *Client) Log(ctx context.Context, id int64, lines ...Log) error {
	var found complaints
	lines = slices.Clone(lines)
	for i := range lines {
		line := &lines[i]
		line.Sweep = id
		line.check(&found, fmt.Sprintf("items[%d].", i))
	}
	if err := fairlead.Invalid(found.Found...); err != nil || len(lines) == 0 {
		return err
	}
	return c.store.AddSweepLogs(ctx, lines)
}

// check fills in the default of a line about to be stored.
func (l *Log) check(c *complaints, at string) {
	if l.Level == "" {
		l.Level = "info"
	}
	if !slices.Contains(logLevels, l.Level) {
		c.Refuse(at+"level", "is %q; it must be one of %s", l.Level, strings.Join(logLevels, ", "))
	}
	if l.Index < 0 || l.Index > maxIndex {
		c.Refuse(at+"index", "is %d; it must be between 0 and %d", l.Index, maxIndex)
	}
	switch {
	case l.Text == "":
		c.Refuse(at+"text", "is missing; set the text of the line")
	case len(l.Text) > maxLogText:
		c.Refuse(at+"text", "has %d bytes; at most %d are allowed", len(l.Text), maxLogText)
	}
}

// Logs returns the matching log lines about items, newest first.
func (c *Client) Logs(ctx context.Context, filter LogFilter) ([]Log, error) {
	return c.store.SweepLogs(ctx, filter)
}

// FailedItems returns the matching permanently failed items, ordered by index.
func (c *Client) FailedItems(ctx context.Context, filter ItemFilter) ([]FailedItem, error) {
	return c.store.FailedItems(ctx, filter)
}

// Shards returns the shards of a started sweep, in order.
func (c *Client) Shards(ctx context.Context, sweep int64) ([]Shard, error) {
	return c.store.Shards(ctx, sweep)
}

// History returns a sweep's events, newest first.
func (c *Client) History(ctx context.Context, filter EventFilter) ([]Event, error) {
	return c.store.SweepEvents(ctx, filter)
}

// Note adds an event to a sweep's history without changing the sweep's state, for example
// after its rate has changed. It returns ErrNotFound if the sweep does not exist.
func (c *Client) Note(ctx context.Context, id int64, by, action, note string) error {
	_, err := steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error {
		return s.tx.Record(ctx, Event{By: s.by, Action: action, From: s.State, To: s.State, Note: note})
	})
	return err
}
