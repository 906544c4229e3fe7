package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// BatchWorkload is the name of the workload that measures batches.
const BatchWorkload = "batch"

// Batches compares a batch of many empty tasks with the same number of plain jobs.
type Batches struct {
	Store      driver.Store
	Server     Server
	Progress   *Progress
	URL        string   // URL of the store
	Viewer     []string // program that watches the batch: it reads a Watch and calls ServeViews
	Tasks      int      // default 1,000,000
	Slots      int      // slots of the node; zero = LoadSlots
	ClaimBatch int      // zero = LoadClaimBatch
}

// BatchFigures contains the results. Programs read it as JSON, so names are stable.
type BatchFigures struct {
	Result // for the batch, from its opening to its completion

	CreateSeconds float64 `json:"create_seconds"` // time until all tasks are stored
	viewFigures

	// Plain jobs that are stored while others run, as tasks become jobs while a batch runs:
	// the mean of the measurements before and after.
	PlainRate float64 `json:"plain_rate"`
	RateRatio float64 `json:"rate_ratio"` // ratio of the rates, batch to plain jobs

	// Plain jobs that are stored first and then run, which makes a run cheaper.
	DrainCreate float64 `json:"drain_create_seconds"`
	DrainRate   float64 `json:"drain_rate"`
	DrainRatio  float64 `json:"drain_ratio"` // ratio of the rates, batch to plain jobs
	Ratio       float64 `json:"ratio"`       // ratio of the total times including creation, plain jobs to batch
}

// Run performs the measurement.
func (b Batches) Run(ctx context.Context) (BatchFigures, error) {
	b.Tasks = orElse(b.Tasks, batch.MaxTasks)
	b.Slots, b.ClaimBatch = orElse(b.Slots, LoadSlots), orElse(b.ClaimBatch, LoadClaimBatch)
	figures, err := b.measure(ctx)
	if err != nil {
		return BatchFigures{}, fmt.Errorf("%s: %w", BatchWorkload, err)
	}
	figures.Workload, figures.Store = BatchWorkload, b.Server.Name()
	return figures, nil
}

func (b Batches) measure(ctx context.Context) (f BatchFigures, err error) {
	if err := b.drain(ctx, &f); err != nil {
		return f, err
	}
	before, err := b.sustain(ctx)
	if err != nil {
		return f, err
	}
	t := newTally()
	node := &Fairlead{Store: b.Store, Kind: batch.TaskKind("bench", KindNoop), Queue: OwnQueue(), Slots: b.Slots, ClaimBatch: b.ClaimBatch}
	working, stop := startWork(ctx, node, t.events())
	err = b.batch(working, node.Queue, t, &f)
	if err := firstError(stop(), err); err != nil {
		return f, err
	}
	after, err := b.sustain(ctx)
	if err != nil {
		return f, err
	}
	tasks := float64(b.Tasks)
	f.PlainRate = round((before+after)/2, 1)
	f.RateRatio, f.DrainRatio = ratio(f.Rate, f.PlainRate), ratio(f.Rate, f.DrainRate)
	f.Ratio = ratio(f.DrainCreate+tasks/f.DrainRate, f.CreateSeconds+tasks/f.Rate)
	return f, nil
}

// drain stores the same number of plain jobs and then runs them.
func (b Batches) drain(ctx context.Context, f *BatchFigures) error {
	bench := b.plain(Spec{Workload: Drain, Jobs: b.Tasks})
	began := time.Now()
	drained, err := bench.drain(ctx)
	if err != nil {
		return err
	}
	f.DrainCreate = round(time.Since(began).Seconds()-drained.Seconds, 1)
	f.DrainRate = drained.Rate
	return nil
}

// sustain stores and runs a part of that number of plain jobs at the same time. It returns
// their rate per second.
func (b Batches) sustain(ctx context.Context) (float64, error) {
	const part = 4
	result, err := b.plain(Spec{Workload: Sustained, Jobs: max(b.Tasks/part, 1)}).sustained(ctx)
	return result.Rate, err
}

// plain returns the measurement of jobs without a batch.
func (b Batches) plain(spec Spec) Bench {
	node := &Fairlead{Store: b.Store, Kind: KindOwn, Queue: OwnQueue(), Slots: b.Slots, ClaimBatch: b.ClaimBatch}
	return Bench{Spec: spec.withDefaults(), Scheduler: node, Server: b.Server, Progress: b.Progress}
}

// batch creates a batch and follows it to its end.
func (b Batches) batch(ctx context.Context, queue string, t *tally, f *BatchFigures) error {
	client := batch.NewClient(b.Store)
	began := time.Now()
	batch, err := b.create(ctx, client, queue)
	if err != nil {
		return err
	}
	f.CreateSeconds = round(time.Since(began).Seconds(), 4)
	defer b.Progress.watch(BatchWorkload, int64(b.Tasks), t.ended.Load)()
	viewer, err := Watch{URL: b.URL, Batch: batch.ID()}.start(ctx, b.Viewer)
	if err != nil {
		return err
	}
	m, err := startMeter(ctx, b.Server)
	if err != nil {
		return firstError(err, viewer.stop())
	}
	opened, err := batch.Open(ctx)
	if err != nil {
		return firstError(err, viewer.stop())
	}
	views, err := viewer.result(ctx)
	used, measureErr := m.stop()
	if err := firstError(err, measureErr); err != nil {
		return err
	}
	f.Result = used.perJob(int64(b.Tasks))
	f.viewFigures = views.figures()
	f.ViewIdle, err = idleView(ctx, client, opened.ID)
	return err
}

// create stores all tasks. It waits until the node has joined.
func (b Batches) create(ctx context.Context, client *batch.Client, queue string) (*batch.Draft, error) {
	batch, err := b.begin(ctx, client, queue)
	if err != nil {
		return nil, err
	}
	for i := 1; i < b.Tasks; i++ {
		if err := batch.Add(ctx, noopChange(i)); err != nil {
			return nil, err
		}
	}
	return batch, nil
}

func (b Batches) begin(ctx context.Context, client *batch.Client, queue string) (*batch.Draft, error) {
	const patience = 10 * time.Second
	for began := time.Now(); ; {
		batch, err := client.Begin(ctx, batch.Batch{Name: "bench", Type: KindNoop, Queue: queue})
		if err == nil {
			err = batch.Add(ctx, noopChange(0))
		}
		if err == nil || !errors.Is(err, fairlead.ErrInvalid) || time.Since(began) > patience {
			return batch, err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func noopChange(i int) batch.Change {
	return batch.Change{
		Target: batch.Target{ID: fmt.Sprintf("target-%d", i), Type: "bench"},
		Before: json.RawMessage(`{"version":1}`), After: json.RawMessage(`{"version":2}`),
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// WriteTable writes the figures as a table for people.
func (f BatchFigures) WriteTable(w io.Writer) error {
	if err := f.Result.WriteTable(w); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "created in\t%.2f s\n", f.CreateSeconds)
	f.writeViews(table)
	fmt.Fprintf(table, "plain jobs\t%s jobs/s\n", Grouped(f.PlainRate))
	fmt.Fprintf(table, "ratio\t%.2f\n", f.RateRatio)
	fmt.Fprintf(table, "stored first\t%s jobs/s, stored in %.1f s\n", Grouped(f.DrainRate), f.DrainCreate)
	fmt.Fprintf(table, "ratio to plain\t%.2f, including creation %.2f\n", f.DrainRatio, f.Ratio)
	return table.Flush()
}
