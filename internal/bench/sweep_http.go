package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// SweepCalls compares sweeps whose items are sent over HTTP, one by one, with a plain
// client on the same target.
type SweepCalls struct {
	Store    driver.Store
	Server   Server
	Command  []string // program that calls ServeTarget
	InFlight int      // default 64
	Pairs    int      // alternating measurements of both; default 3
	Seconds  float64  // duration of each; default 5
}

// SweepCallFigures contains the results. Programs read it as JSON, so names are stable.
type SweepCallFigures struct {
	Workload   string  `json:"workload"`
	Store      string  `json:"store"`
	Part       string  `json:"part"`
	Title      string  `json:"title"`
	InFlight   int     `json:"in_flight"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"rate"`               // items per second
	ItemMicros float64 `json:"client_us_per_item"` // CPU time of this process
	Client     string  `json:"client"`             // client to compare with
	ClientRate float64 `json:"client_rate"`        // calls per second
	Ratio      float64 `json:"ratio"`
}

// Run performs the measurement, and passes each part to done when it is complete.
func (s SweepCalls) Run(ctx context.Context, done func(SweepCallFigures) error) (err error) {
	s.InFlight, s.Pairs = orElse(s.InFlight, 64), orElse(s.Pairs, 3)
	if s.Seconds == 0 {
		s.Seconds = 5
	}
	target, stop, err := startTarget(ctx, s.Command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, part := range []struct{ name, title, path string }{
		{"http", "a target that responds immediately", targetAtOnce},
		{"http-ok", "a target that responds \"ok\" immediately", targetOK},
		{"http-1ms", "a target that takes 1 ms", targetFast},
		{"http-5ms", "a target that takes 5 ms", targetUsual},
	} {
		figures, err := s.compare(ctx, target, part.path)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		figures.Workload, figures.Store, figures.Part, figures.Title = SweepWorkload, s.Server.Name(), part.name, part.title
		if err := done(figures); err != nil {
			return err
		}
	}
	return nil
}

// startTarget starts the target; stop ends it.
func startTarget(ctx context.Context, command []string) (url string, stop func() error, err error) {
	// The process ends at the end of its input.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start the target: %w", err)
	}
	stop = func() error { return errors.Join(input.Close(), cmd.Wait()) }
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the target did not start: %w", err), stop())
	}
	return strings.TrimSpace(line), stop, nil
}

// compare measures both alternately and compares the medians.
func (s SweepCalls) compare(ctx context.Context, target, path string) (SweepCallFigures, error) {
	plain, client := s.plainClient()
	f := SweepCallFigures{InFlight: s.InFlight, Seconds: s.Seconds, Client: client}
	var ours, others, costs []float64
	for range s.Pairs {
		rate, _, err := s.measure(ctx, target, func(ctx context.Context) error { return plain(ctx, target+path) })
		if err != nil {
			return f, fmt.Errorf("%s: %w", client, err)
		}
		others = append(others, rate)
		rate, cost, err := s.measure(ctx, target, func(ctx context.Context) error { return s.sweep(ctx, target+path) })
		if err != nil {
			return f, err
		}
		ours, costs = append(ours, rate), append(costs, cost)
	}
	f.Rate, f.ClientRate, f.ItemMicros = round(middle(ours), 1), round(middle(others), 1), round(middle(costs), 2)
	f.Ratio = ratio(f.Rate, f.ClientRate)
	return f, nil
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// measure runs a load against the target, and returns the number of calls per second after
// a warm-up, and the CPU time per call in this process.
func (s SweepCalls) measure(ctx context.Context, target string, load func(ctx context.Context) error) (rate, micro float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- load(ctx) }()
	long := time.Duration(s.Seconds * float64(time.Second))
	var counts [2]int64
	var times [2]time.Time
	var used [2]time.Duration
	for i, wait := range []time.Duration{min(time.Second, long), long} {
		select {
		case <-time.After(wait):
		case err := <-ended:
			return 0, 0, firstError(err, ctx.Err(), errors.New("the sweep ended before it was measured"))
		}
		if counts[i], err = callsOf(ctx, target); err != nil {
			cancel()
			return 0, 0, errors.Join(err, <-ended)
		}
		times[i], used[i] = time.Now(), ProcessTime()
	}
	cancel()
	calls := float64(counts[1] - counts[0])
	return calls / times[1].Sub(times[0]).Seconds(), micros(used[1]-used[0]) / max(1, calls), <-ended
}

// sweep processes items, each of which is a call, until its context ends.
func (s SweepCalls) sweep(ctx context.Context, url string) (err error) {
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		return err
	}
	queue := OwnQueue()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	mux := fairlead.NewMux()
	items.HandleHTTP(mux, s.Store, items.Options{Logger: log}, httpcall.New(httpcall.Options{Guard: guard}))
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(working, s.Store, mux, engine.Options{Name: "bench", Slots: 1, Queues: []engine.Queue{{Name: queue}}, Retention: keepAll(), Logger: log})
	}()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	args, err := json.Marshal(httpcall.Call{Method: "GET", URL: url + "{{args.item.index}}"})
	if err != nil {
		return err
	}
	const endless = 1_000_000_000_000
	run := sweepRun{client: sweep.NewClient(s.Store)}
	begin := context.WithoutCancel(ctx) // on a slow machine the time may end before the sweep has begun
	if err := run.start(begin, sweep.Sweep{Name: queue, Kind: items.HTTPKind, Queue: queue, To: endless, InFlight: s.InFlight, Data: args}); err != nil {
		return err
	}
	<-ctx.Done()
	return run.end(context.WithoutCancel(ctx))
}

// sweepRun is a sweep that runs for some time.
type sweepRun struct {
	client *sweep.Client
	id     int64
}

// start creates and starts the sweep.
func (r *sweepRun) start(ctx context.Context, made sweep.Sweep) error {
	stored, err := r.client.Put(ctx, made)
	if err != nil {
		return err
	}
	r.id = stored.ID
	_, err = r.client.Start(ctx, r.id, "")
	return err
}

// end stops and deletes the sweep. It returns an error if items failed.
func (r *sweepRun) end(ctx context.Context) error {
	if _, err := r.client.Stop(ctx, r.id, "", ""); err != nil {
		return err
	}
	for {
		now, err := r.client.ByID(ctx, r.id)
		if err != nil {
			return err
		}
		if now.State == sweep.Stopped {
			if now.Errors > 0 {
				return fmt.Errorf("%d items failed", now.Errors)
			}
			return r.client.Delete(ctx, r.id)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// WriteTable writes the figures as a table for people.
func (f SweepCallFigures) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s: %s, %d in flight\n", f.Part, f.Title, f.InFlight)
	fmt.Fprintf(table, "  sweep\t%s items/s\tclient %.1f µs/item\n", Grouped(f.Rate), f.ItemMicros)
	fmt.Fprintf(table, "  %s\t%s calls/s\n", f.Client, Grouped(f.ClientRate))
	fmt.Fprintf(table, "  ratio\t%.2f×\n", f.Ratio)
	return table.Flush()
}
