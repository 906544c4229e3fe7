package bulk

import (
	"math"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/cause"
)

// Limits of bulk fields.
const (
	maxReason = 1000 // in bytes
	maxIDs    = 1000 // maximum number of IDs in a filter
	maxNames  = 1000 // maximum number of names of each type in a filter
	minRate   = 0.1  // a slower bulk would sleep for long while it occupies a slot of a node
	maxRate   = 1e6
)

// Normalize validates a bulk about to be stored and fills in its defaults. It returns an
// *InvalidError that names every invalid field.
func Normalize(b *Bulk) error {
	var c complaints
	names := make([]string, len(Actions()))
	for i, action := range Actions() {
		names[i] = string(action)
	}
	switch {
	case b.Action == "":
		c.Refuse("action", "is empty; set the action to apply to the jobs")
	case b.Action.States() == nil:
		c.OneOf("action", string(b.Action), names...)
	default:
		b.checkParameters(&c)
		b.checkFilter(&c)
	}
	if b.Cause != "" {
		b.Cause = cause.Of(b.Cause)
	}
	c.Text("reason", b.Reason)
	if len(b.Reason) > maxReason {
		c.Refuse("reason", "has %d bytes; at most %d are allowed", len(b.Reason), maxReason)
	}
	if math.IsNaN(b.Rate) || b.Rate != 0 && b.Rate < minRate || b.Rate > maxRate {
		c.Refuse("rate", "is %v; it must be 0 (unlimited) or between %v and %v", b.Rate, minRate, float64(maxRate))
	}
	return fairlead.Invalid(c.Found...)
}

// checkParameters rejects parameters that do not belong to the action, and requires those
// that do.
func (b *Bulk) checkParameters(c *complaints) {
	switch {
	case b.Action == Move:
		c.Name("queue", b.Queue, fairlead.MaxName)
	case b.Queue != "":
		c.Refuse("queue", "is %q, but the action is %s; set it only for %s", b.Queue, b.Action, Move)
	}
	switch {
	case b.Action != Prioritize && b.Priority != 0:
		c.Refuse("priority", "is %d, but the action is %s; set it only for %s", b.Priority, b.Action, Prioritize)
	case b.Priority < -fairlead.MaxPriority || b.Priority > fairlead.MaxPriority:
		c.Refuse("priority", "is %d; it must be between %d and %d", b.Priority, -fairlead.MaxPriority, fairlead.MaxPriority)
	}
}

// checkFilter rejects filters that match no job or cannot be stored.
func (b *Bulk) checkFilter(c *complaints) {
	filter := &b.Filter
	filter.Limit, filter.Below = 0, 0
	if !b.Action.Narrow(filter) {
		c.Refuse("filter.state", "includes no state to which the action applies")
	}
	if len(filter.IDs) > maxIDs {
		c.Refuse("filter.id", "has %d ids; at most %d are allowed", len(filter.IDs), maxIDs)
	}
	for _, names := range []struct {
		field string
		list  []string
	}{{"filter.kind", filter.Kinds}, {"filter.queue", filter.Queues}, {"filter.tenant", filter.Tenants}, {"filter.key", []string{filter.Key}}} {
		if len(names.list) > maxNames {
			c.Refuse(names.field, "has %d names; at most %d are allowed", len(names.list), maxNames)
			continue
		}
		for _, name := range names.list {
			c.Text(names.field, name)
			if len(name) > fairlead.MaxName {
				c.Refuse(names.field, "contains a name of %d bytes; at most %d are allowed", len(name), fairlead.MaxName)
			}
		}
	}
}
