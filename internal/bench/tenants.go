package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Tenants is the workload that measures the cost of limits. It consists of several parts,
// each measured with and without its feature.
const Tenants = "tenants"

// Tenancy measures the cost of limits, and which tenants bear it.
type Tenancy struct {
	Open     func(ctx context.Context) (driver.Store, error) // one store per node
	Server   Server
	Progress *Progress
	Jobs     int     // per measurement; default 100,000
	Seconds  float64 // duration of parts that are measured by time; default 8
	Pairs    int     // alternating measurements with and without; default 5
	Backlog  int     // ready jobs of the tenant at its cap; default 1,000,000
	Only     string  // part to run; all if empty
}

// Part is the result of one part. The embedded result is with the feature, the other one
// without.
type Part struct {
	Name    string  `json:"part"`
	Title   string  `json:"title"`
	Ratio   float64 `json:"ratio,omitempty"` // ratio of the rates or of p99, with to without
	Busy    float64 `json:"busy,omitempty"`  // share of the allowed slots in use
	Result          // with the feature
	Without *Result `json:"without,omitempty"`

	// Latencies measured from the time when the job was enqueued, instead of from the call
	// that enqueued it.
	EnqueuedP50 float64 `json:"enqueued_p50_ms,omitempty"`
	EnqueuedP99 float64 `json:"enqueued_p99_ms,omitempty"`
}

// parts returns the parts in order.
func (t *Tenancy) parts() []struct {
	name, title string
	run         func(context.Context) (Part, error)
} {
	type part = struct {
		name, title string
		run         func(context.Context) (Part, error)
	}
	return []part{
		{"caps-1", "20 tenants below their caps, one node", t.caps(1, 0)},
		{"caps-4", "20 tenants below their caps, four nodes", t.caps(4, 0)},
		{"global-4", "the same with a global cap of 2,000, four nodes", t.caps(4, 2000)},
		{"binding", "20 tenants with caps of 10, jobs of 100 ms, four nodes", t.binding},
		{"crowd", "latency of 100 tenants next to a tenant at its cap with a large backlog", t.crowd},
		{"many", "one tenant per 10 jobs, compared with a single tenant", t.many},
	}
}

// Run performs the measurement, and passes each part to done when it is complete.
func (t Tenancy) Run(ctx context.Context, done func(Part) error) error {
	t.Jobs, t.Pairs, t.Backlog = orElse(t.Jobs, 100_000), orElse(t.Pairs, 5), orElse(t.Backlog, 1_000_000)
	if t.Seconds == 0 {
		t.Seconds = 8
	}
	if err := t.checkUnlimited(ctx); err != nil {
		return err
	}
	known := false
	for _, part := range t.parts() {
		if t.Only != "" && t.Only != part.name {
			continue
		}
		known = true
		result, err := part.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		result.Name, result.Title, result.Workload, result.Store = part.name, part.title, Tenants, t.Server.Name()
		if err := done(result); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("unknown part %q", t.Only)
	}
	return nil
}

// checkUnlimited rejects a database whose limits would be measured, and changed, too.
func (t *Tenancy) checkUnlimited(ctx context.Context) (err error) {
	store, err := t.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	limits, err := store.Limits(ctx)
	if err != nil {
		return err
	}
	for _, l := range limits {
		if l.Scope == fairlead.LimitGlobal {
			return errors.New("the database has a global limit, which the benchmark would change: use another database")
		}
	}
	return nil
}

// median returns the result with the median rate.
func median(results []Result) Result {
	slices.SortFunc(results, func(a, b Result) int { return int(a.Rate - b.Rate) })
	return results[len(results)/2]
}

// WriteTable writes the part as a table for people.
func (p Part) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name string, r *Result) {
		figure := Grouped(r.Rate) + " jobs/s"
		if r.P99Millis > 0 {
			figure += fmt.Sprintf("\tp50 %.2f ms, p99 %.2f ms", r.P50Millis, r.P99Millis)
		}
		fmt.Fprintf(table, "  %s\t%s\tclient %.1f µs/job\tserver %.1f µs/job\n", name, figure, r.ClientMicros, r.ServerMicros)
	}
	fmt.Fprintf(table, "%s: %s\n", p.Name, p.Title)
	row("with", &p.Result)
	if p.Without != nil {
		row("without", p.Without)
		fmt.Fprintf(table, "  ratio\t%.2f×\n", p.Ratio)
	}
	if p.EnqueuedP99 > 0 {
		fmt.Fprintf(table, "  after enqueueing\tp50 %.2f ms, p99 %.2f ms\n", p.EnqueuedP50, p.EnqueuedP99)
	}
	if p.Busy > 0 {
		fmt.Fprintf(table, "  slots\t%.0f %% busy\n", 100*p.Busy)
	}
	return table.Flush()
}

// settleTime is the pause between two measurements, in which nodes become idle.
const settleTime = 200 * time.Millisecond
