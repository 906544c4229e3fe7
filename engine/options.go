package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Options configures a node. The zero value is valid.
type Options struct {
	Name    string // display name; default the host's name
	Address string // address at which the node can be reached, for display
	Version string // version of the program, for display

	Slots  int     // maximum number of jobs that it runs at once; default 32
	Queues []Queue // queues that it serves; none means all

	QueueSize  int // maximum number of jobs claimed but not started; default 1000
	ClaimBatch int // maximum number of jobs per claim; default 500

	// SlotsOnly makes the node claim jobs only for free slots, so that each job starts as
	// soon as it is leased. QueueSize then limits the jobs that have ended but are not yet
	// settled. SlotsOnly reduces throughput if jobs are short.
	SlotsOnly bool

	// BlockingCountLimit is the number of polls after which claiming restarts if jobs
	// could start and slots are free, but nothing is claimed and nothing ends; default 10.
	BlockingCountLimit int

	MaxSweeps int // maximum number of sweeps with shards that it runs at once; default 5

	Poll  time.Duration // interval between checks for work when the node is not woken; default 1s
	Beat  time.Duration // interval between confirmations of its lease; default 2s, at least 1ms
	Lease time.Duration // duration of its lease without a beat; default 10s, at least three beats and 10ms
	Grace time.Duration // time for which a handler may continue after its context has ended; default 5s

	DrainTimeout time.Duration // time for which handlers may continue after Run's context has ended; default 30s
	Timeout      time.Duration // timeout of an attempt if its job and handler set none; default 1h
	MaxCrashes   int           // number of node deaths without progress after which a job fails as poison; default 20

	// Retention sets how long finished jobs are kept. The zero value keeps succeeded and
	// cancelled jobs for a day and failed jobs for a week.
	Retention driver.Retention

	// KindRetention sets how long finished jobs of individual kinds are kept, including
	// kinds that the node does not handle. It overrides the retention that their handlers
	// set. Fields that are zero use Retention. See fairlead.HandlerOptions.
	KindRetention map[string]fairlead.Retention

	// HoldRetention sets how long the records of obstacles that kept jobs waiting are kept
	// (see package hold); default a week. If it is negative, this node does not record
	// them.
	HoldRetention time.Duration

	// StuckLimit is the time after which the node gives the slot of a handler that ignores
	// the end of its context to other jobs; default 10m.
	StuckLimit time.Duration

	Logger   *slog.Logger // default slog.Default()
	Observer Observer     // default none

	Listeners []Listener // called when jobs start, time out or fail

	// Base returns the parent of handlers' contexts, for values that all handlers need;
	// default context.Background.
	Base func() context.Context

	// Random returns a source of random numbers for the jitter of the loop with the given
	// name. Each loop uses a source of its own, from one goroutine. A simulation that has to
	// repeat a run sets it; default the global source.
	Random func(loop string) *rand.Rand
}

// Less than this cannot be meant; a unit was mistaken for another.
const (
	leastBeat  = time.Millisecond
	leastLease = 10 * time.Millisecond
)

// Queue configures a queue that a node serves.
type Queue struct {
	Name  string // name of the queue
	Slots int    // slots reserved for it; zero shares the node's slots
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

// DefaultRetention returns the retention that a node uses if its options set none.
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
