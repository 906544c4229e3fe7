package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Options of a node. The zero value is useful.
type Options struct {
	Name    string // for people; default the name of the host
	Address string // where the node can be reached, for people
	Version string

	Slots  int     // jobs it runs at once; default 32
	Queues []Queue // queues it serves; none means all

	QueueSize  int // claimed but not started, at most; default 1000
	ClaimBatch int // jobs per claim, at most; default 500

	// SlotsOnly claims jobs only for slots that are free, so that a job starts as
	// soon as it is leased. QueueSize then bounds those that have ended and are not
	// yet settled. It costs throughput where jobs are quick.
	SlotsOnly bool

	// BlockingCountLimit is after how many polls claiming begins anew if jobs could start
	// and there are free slots, but nothing is claimed and nothing ends; default 10.
	BlockingCountLimit int

	MaxSweeps int // sweeps whose shards it runs at once, at most; default 5

	Poll  time.Duration // how often it looks for work without being woken; default 1s
	Beat  time.Duration // how often it confirms its lease; default 2s, at least 1ms
	Lease time.Duration // how long it may be silent; default 10s, at least three beats and 10ms
	Grace time.Duration // how long a handler may go on after its context ended; default 5s

	DrainTimeout time.Duration // how long handlers may go on after Run's context ended; default 30s
	Timeout      time.Duration // of an attempt whose job and handler set none; default 1h
	MaxCrashes   int           // node deaths without progress at which a job fails as poison; default 20

	// Retention of finished jobs; the zero value keeps succeeded and cancelled
	// ones for a day and failed ones for a week.
	Retention driver.Retention

	// KindRetention is that of finished jobs of kinds, whether or not the node handles
	// them; it goes before what their handlers say. Zero fields leave it to Retention. See
	// fairlead.HandlerOptions.
	KindRetention map[string]fairlead.Retention

	// HoldRetention is how long it is kept what kept jobs waiting, see package hold; default
	// a week. With a negative one this node does not record it.
	HoldRetention time.Duration

	// StuckLimit is after how long the slot of a handler that ignores the end
	// of its context is given to others; default 10m.
	StuckLimit time.Duration

	Logger   *slog.Logger // default slog.Default()
	Observer Observer     // default none

	Listeners []Listener // called when jobs start, time out and fail

	// Base is what handlers' contexts are made of, for values that all of them are to
	// find; default context.Background.
	Base func() context.Context
}

// Less than this cannot be meant; a unit was mistaken for another.
const (
	leastBeat  = time.Millisecond
	leastLease = 10 * time.Millisecond
)

// Queue is one queue that a node serves.
type Queue struct {
	Name  string
	Slots int // its own slots; zero shares the node's
}

func (o Options) withDefaults() Options {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	if o.Name == "" {
		o.Name, _ = os.Hostname() // a node without a name works as well
	}
	orInt(&o.Slots, 32)
	orInt(&o.QueueSize, 1000)
	orInt(&o.ClaimBatch, 500)
	orInt(&o.MaxCrashes, 20)
	orInt(&o.MaxSweeps, 5)
	orInt(&o.BlockingCountLimit, 10)
	orTime(&o.Poll, time.Second)
	orTime(&o.Beat, 2*time.Second)
	orTime(&o.Lease, 10*time.Second)
	orTime(&o.Grace, 5*time.Second)
	orTime(&o.DrainTimeout, 30*time.Second)
	orTime(&o.Timeout, time.Hour)
	orTime(&o.StuckLimit, 10*time.Minute)
	orTime(&o.HoldRetention, 7*24*time.Hour)
	if (o.Retention == driver.Retention{}) {
		o.Retention = DefaultRetention()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Observer == nil {
		o.Observer = NoObserver{}
	}
	if o.Base == nil {
		o.Base = context.Background
	}
	return o
}

// DefaultRetention is that of a node that is not told otherwise.
func DefaultRetention() driver.Retention {
	const day = 24 * time.Hour
	return driver.Retention{Succeeded: day, Failed: 7 * day, Cancelled: day, Skipped: day}
}

func (o Options) validate(mux *fairlead.Mux) error {
	var bad []fairlead.FieldError
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fairlead.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	for _, v := range []struct {
		field string
		value int
	}{{"slots", o.Slots}, {"queue_size", o.QueueSize}, {"claim_batch", o.ClaimBatch}, {"max_crashes", o.MaxCrashes}, {"max_sweeps", o.MaxSweeps}, {"blocking_count_limit", o.BlockingCountLimit}} {
		if v.value < 0 {
			refuse(v.field, "is %d; it must be positive", v.value)
		}
	}
	for _, v := range []struct {
		field string
		value time.Duration
	}{{"poll", o.Poll}, {"beat", o.Beat}, {"lease", o.Lease}, {"grace", o.Grace}, {"drain_timeout", o.DrainTimeout}, {"timeout", o.Timeout}, {"stuck_limit", o.StuckLimit}} {
		if v.value < 0 {
			refuse(v.field, "is %v; it must be positive", v.value)
		}
	}
	if o.Beat > 0 && o.Beat < leastBeat {
		refuse("beat", "is %v; it must be at least %v, or the node does nothing but confirm its lease", o.Beat, leastBeat)
	}
	if o.Lease > 0 && o.Lease < leastLease {
		refuse("lease", "is %v; it must be at least %v, or it ends before a database can answer", o.Lease, leastLease)
	}
	if o.Lease < 3*o.Beat {
		refuse("lease", "is %v with a beat of %v; it must be at least three beats, so that one lost beat does not cost the lease", o.Lease, o.Beat)
	}
	for kind, keep := range o.kindRetention(mux) {
		if keep.Succeeded < 0 || keep.Failed < 0 || keep.Cancelled < 0 || keep.Skipped < 0 {
			refuse("kind_retention", "is negative for kind %q; use zero for the node's default, or Forever", kind)
		}
		if kind == "" {
			refuse("kind_retention", "contains an empty kind; name one")
		}
	}
	if len(mux.Kinds()) == 0 {
		refuse("mux", "has no handlers; register at least one kind")
	}
	for kind, fields := range mux.Confidential() {
		var invalid *fairlead.InvalidError
		if _, err := fairlead.NormalizeConfidential(kind, fields); errors.As(err, &invalid) {
			refuse("mux", "has kind %q: %s %s", kind, invalid.Fields[0].Field, invalid.Fields[0].Message)
		}
	}
	seen := map[string]bool{}
	for _, q := range o.Queues {
		switch {
		case q.Name == "":
			refuse("queues", "has a queue without a name")
		case q.Slots < 0:
			refuse("queues", "gives queue %q %d slots; use zero to share the node's slots", q.Name, q.Slots)
		case seen[q.Name]:
			refuse("queues", "contains queue %q twice", q.Name)
		}
		seen[q.Name] = true
	}
	if len(bad) > 0 {
		return &fairlead.InvalidError{Fields: bad}
	}
	return nil
}

// plan says which groups of queues share slots: one group for the queues
// without slots of their own (all queues if none is named), and one for each
// queue with its own.
func (o Options) plan(kinds []string) []groupPlan {
	var plans []groupPlan
	var shared []string
	for _, q := range o.Queues {
		if q.Slots == 0 {
			shared = append(shared, q.Name)
			continue
		}
		plans = append(plans, groupPlan{slots: q.Slots, scope: &driver.Scope{Queues: []string{q.Name}, Kinds: kinds}})
	}
	if len(shared) > 0 || len(o.Queues) == 0 {
		plans = append(plans, groupPlan{slots: o.Slots, scope: &driver.Scope{Queues: shared, Kinds: kinds}})
	}
	return plans
}

func (o Options) totalSlots() int {
	total := 0
	for _, p := range o.plan(nil) {
		total += p.slots
	}
	return total
}

type groupPlan struct {
	slots int
	scope *driver.Scope
}

// fenceMargin is how long before the end of its lease a node that cannot
// confirm it stops: handlers get this time to end while no other node may
// start their jobs.
func (o Options) fenceMargin() time.Duration { return min(o.Grace, o.Lease/4) }
