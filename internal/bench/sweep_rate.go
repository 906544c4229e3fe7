package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// SweepRates measures how precisely sweeps follow their rate: on one node, while a node
// leaves, and when a node is killed. Each node is a process.
type SweepRates struct {
	Store    driver.Store
	Server   Server
	Command  []string // program that calls ServeSweep
	URL      string   // URL of the database, for the nodes
	Progress *Progress
	Rates    []float64     // default 10, 1,000 and 50,000 items per second
	Seconds  float64       // measured duration; default 30
	Lease    time.Duration // lease of the nodes; default 10s
	Shards   int           // default 4
	InFlight int           // default 16
}

// SweepRateFigures contains the results for one rate. Programs read it as JSON, so names
// are stable.
type SweepRateFigures struct {
	Workload string  `json:"workload"`
	Store    string  `json:"store"`
	Part     string  `json:"part"`
	Title    string  `json:"title"`
	SetRate  float64 `json:"set_rate"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"rate"`
	// ErrorPercent is the deviation from the rate over the time; after a crash, over the time
	// since the rate was reached again.
	ErrorPercent float64 `json:"error_percent"`
	// LargestTenth is the maximum number of items begun in any 100 ms, and HighestSecond the
	// maximum in any second, relative to the rate.
	LargestTenth  float64 `json:"largest_100ms"`
	HighestSecond float64 `json:"highest_second"`
	LowestSecond  float64 `json:"lowest_second"`

	LeaseSeconds float64 `json:"lease_seconds,omitempty"` // for crashes
	BackSeconds  float64 `json:"back_seconds,omitempty"`  // from the crash until the rate was reached again
}

// Run performs the measurement, and passes each part to done when it is complete.
func (s SweepRates) Run(ctx context.Context, done func(SweepRateFigures) error) error {
	s.Shards, s.InFlight = orElse(s.Shards, 4), orElse(s.InFlight, 16)
	if len(s.Rates) == 0 {
		s.Rates = []float64{10, 1000, 50_000}
	}
	if s.Seconds == 0 {
		s.Seconds = 30
	}
	if s.Lease == 0 {
		s.Lease = 10 * time.Second
	}
	for _, part := range []struct {
		name, title string
		nodes       int
		disturb     func(*sweepNode) error // called after half of the time
	}{
		{"rate", "one node", 1, nil},
		{"rate-handover", "one of two nodes leaves", 2, (*sweepNode).leave},
		{"rate-crash", "one of two nodes is killed", 2, (*sweepNode).kill},
	} {
		for _, rate := range s.Rates {
			m := rateRun{SweepRates: s, rate: rate, counts: newItemsByTick(), crash: part.name == "rate-crash"}
			figures, err := m.measure(ctx, part.nodes, part.disturb)
			if err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			figures.Workload, figures.Store, figures.Part, figures.Title = SweepWorkload, s.Server.Name(), part.name, part.title
			if err := done(figures); err != nil {
				return err
			}
		}
	}
	return nil
}

// rateRun is one sweep at a rate.
type rateRun struct {
	SweepRates
	rate   float64
	crash  bool
	counts *itemsByTick
	nodes  []*sweepNode
}

// measure runs the sweep until it can be judged.
func (m *rateRun) measure(ctx context.Context, nodes int, disturb func(*sweepNode) error) (f SweepRateFigures, err error) {
	queue := OwnQueue()
	defer func() {
		for _, n := range m.nodes {
			err = errors.Join(err, n.leave())
		}
	}()
	for i := range nodes {
		node, err := startSweepNode(ctx, m.Command, SweepPost{
			Name: fmt.Sprintf("bench %d", i+1), URL: m.URL, Queue: queue, Kind: queue, Slots: m.Shards, Lease: m.Lease,
		}, m.counts)
		if node != nil {
			m.nodes = append(m.nodes, node)
		}
		if err != nil {
			return f, err
		}
	}
	if err := m.await(ctx, nodes, queue); err != nil {
		return f, err
	}
	run := sweepRun{client: sweep.NewClient(m.Store)}
	const spare = 4 // the sweep must not end before the measurement does
	items := int64(math.Ceil(m.rate * (m.Seconds + spare*m.Lease.Seconds() + 60)))
	made := sweep.Sweep{Name: queue, Kind: queue, Queue: queue, To: items, Rate: m.rate, InFlight: m.InFlight, Shards: m.Shards}
	if err := run.start(ctx, made); err != nil {
		return f, err
	}
	defer m.Progress.watch(fmt.Sprintf("at %s/s", Grouped(m.rate)), 0, m.counts.count)()
	f, err = m.follow(ctx, disturb)
	return f, errors.Join(err, run.end(context.WithoutCancel(ctx)))
}

// await waits until the nodes have joined, so that they share the rate from the start.
func (m *rateRun) await(ctx context.Context, nodes int, kind string) error {
	for {
		live, err := m.Store.Nodes(ctx)
		if err != nil {
			return err
		}
		joined := 0
		for i := range live {
			for _, handled := range live[i].Kinds {
				if handled == sweep.KindOf(kind) {
					joined++
				}
			}
		}
		if joined == nodes {
			return nil
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// ticksPerSecond is the number of ticks in a second.
const ticksPerSecond = int64(time.Second / tick)

// follow disturbs the sweep halfway and waits until there is enough data to judge it.
func (m *rateRun) follow(ctx context.Context, disturb func(*sweepNode) error) (f SweepRateFigures, err error) {
	first, known := m.counts.beginning()
	for ; !known; first, known = m.counts.beginning() {
		if err := pause(ctx, tick); err != nil {
			return f, err
		}
	}
	long := int64(m.Seconds * float64(ticksPerSecond))
	from := first + ticksPerSecond
	to := from + long
	var crashed int64
	if disturb != nil {
		if err := m.until(ctx, from+long/2); err != nil {
			return f, err
		}
		crashed = tickOf(time.Now())
		node := m.nodes[0]
		m.nodes = m.nodes[1:]
		if err := disturb(node); err != nil {
			return f, err
		}
	}
	if !m.crash {
		if err := m.until(ctx, to); err != nil {
			return f, err
		}
		return judge(m.rate, m.counts.between(from, to)), nil
	}
	back, err := m.untilBack(ctx, crashed)
	if err != nil {
		return f, err
	}
	if err := m.until(ctx, back+long/2); err != nil {
		return f, err
	}
	f = judge(m.rate, m.counts.between(back, back+long/2))
	whole := judge(m.rate, m.counts.between(from, back+long/2))
	f.LargestTenth, f.HighestSecond, f.LowestSecond = whole.LargestTenth, whole.HighestSecond, whole.LowestSecond
	f.LeaseSeconds, f.BackSeconds = m.Lease.Seconds(), round(float64(back-crashed)/float64(ticksPerSecond), 2)
	return f, nil
}

// until waits until a tick has passed and was reported.
func (m *rateRun) until(ctx context.Context, end int64) error {
	const reported = 20 // ticks later
	return pause(ctx, time.Until(time.Unix(0, (end+reported)*int64(tick))))
}

// untilBack waits until, starting at some tick, a whole second has reached the rate.
func (m *rateRun) untilBack(ctx context.Context, from int64) (int64, error) {
	end := from + 6*int64(m.Lease/tick) + 30*ticksPerSecond
	for to := from + ticksPerSecond; to < end; to += ticksPerSecond / 2 {
		if err := m.until(ctx, to); err != nil {
			return 0, err
		}
		if at, found := firstFairSecond(m.rate, m.counts.between(from, to)); found {
			return from + int64(at), nil
		}
	}
	return 0, fmt.Errorf("the rate did not recover to %v within %v after the crash", m.rate, time.Duration(end-from)*tick)
}

// WriteTable writes the figures as a table for people.
func (f SweepRateFigures) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s: %s items/s, %s\n", f.Part, Grouped(f.SetRate), f.Title)
	fmt.Fprintf(table, "  rate\t%.1f items/s over %.0f s\t%+.2f %%\n", f.Rate, f.Seconds, f.ErrorPercent)
	fmt.Fprintf(table, "  peak in 100 ms\t%.2f×\n", f.LargestTenth)
	fmt.Fprintf(table, "  per second\tfrom %.3f× to %.3f×\n", f.LowestSecond, f.HighestSecond)
	if f.LeaseSeconds > 0 {
		fmt.Fprintf(table, "  recovered after\t%.1f s, with a lease of %.1f s\n", f.BackSeconds, f.LeaseSeconds)
	}
	return table.Flush()
}
