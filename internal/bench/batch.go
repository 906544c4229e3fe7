package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
)

// BatchWorkload is the name of the workload that measures batches.
const BatchWorkload = "batch"

// Batches measures a batch of many tasks that do nothing, against as many plain jobs
// that do nothing.
type Batches struct {
	Store      fairlead.Store
	Server     Server
	Progress   *Progress
	Tasks      int // default 1,000,000
	Slots      int // of the node; zero: LoadSlots
	ClaimBatch int // zero: LoadClaimBatch
}

// BatchFigures is what the workload measured. Programs read it as JSON: names stay.
type BatchFigures struct {
	Result // of the batch, from when it was opened until it has completed

	CreateSeconds float64 `json:"create_seconds"` // until all tasks are stored
	ViewMillis    float64 `json:"view_ms"`        // to read how it stands, while it runs: the median
	ViewMax       float64 `json:"view_max_ms"`    // the slowest
	// The same with plain jobs. They are stored first and then drained, while tasks
	// become jobs as the batch goes on: so the ratio is of the times from nothing to
	// the end of all.
	PlainSeconds float64 `json:"plain_create_seconds"`
	PlainRate    float64 `json:"plain_drain_rate"`
	Ratio        float64 `json:"ratio"`       // of the times for all of it, plain to batch
	DrainRatio   float64 `json:"drain_ratio"` // of the rates once all is stored, batch to plain
}

// Run measures.
func (b Batches) Run(ctx context.Context) (BatchFigures, error) {
	b.Tasks = orElse(b.Tasks, fairlead.MaxTasks)
	b.Slots, b.ClaimBatch = orElse(b.Slots, LoadSlots), orElse(b.ClaimBatch, LoadClaimBatch)
	figures, err := b.measure(ctx)
	if err != nil {
		return BatchFigures{}, fmt.Errorf("%s: %w", BatchWorkload, err)
	}
	figures.Workload, figures.Store = BatchWorkload, b.Server.Name()
	return figures, nil
}

func (b Batches) measure(ctx context.Context) (f BatchFigures, err error) {
	if err := b.plain(ctx, &f); err != nil {
		return f, err
	}
	t := newTally()
	node := &Fairlead{Store: b.Store, Kind: fairlead.TaskKind("bench", KindNoop), Queue: OwnQueue(), Slots: b.Slots, ClaimBatch: b.ClaimBatch}
	working, stop := startWork(ctx, node, t.events())
	err = b.batch(working, node.Queue, t, &f)
	if err := firstError(stop(), err); err != nil {
		return f, err
	}
	tasks := float64(b.Tasks)
	f.Ratio = ratio(f.PlainSeconds+tasks/f.PlainRate, f.CreateSeconds+tasks/f.Rate)
	f.DrainRatio = ratio(f.Rate, f.PlainRate)
	return f, nil
}

// plain drains as many plain jobs.
func (b Batches) plain(ctx context.Context, f *BatchFigures) error {
	node := &Fairlead{Store: b.Store, Kind: KindOwn, Queue: OwnQueue(), Slots: b.Slots, ClaimBatch: b.ClaimBatch}
	bench := Bench{Spec: Spec{Workload: Drain, Jobs: b.Tasks}.withDefaults(), Scheduler: node, Server: b.Server, Progress: b.Progress}
	began := time.Now()
	drained, err := bench.drain(ctx)
	if err != nil {
		return err
	}
	f.PlainSeconds = round(time.Since(began).Seconds()-drained.Seconds, 1)
	f.PlainRate = drained.Rate
	return nil
}

// batch creates a batch and follows it to its end.
func (b Batches) batch(ctx context.Context, queue string, t *tally, f *BatchFigures) error {
	client := fairlead.NewClient(b.Store)
	began := time.Now()
	batch, err := b.create(ctx, client, queue)
	if err != nil {
		return err
	}
	f.CreateSeconds = round(time.Since(began).Seconds(), 2)
	defer b.Progress.watch(BatchWorkload, int64(b.Tasks), t.ended.Load)()
	m, err := startMeter(ctx, b.Server)
	if err != nil {
		return err
	}
	opened, err := batch.Open(ctx)
	if err != nil {
		return err
	}
	views, err := followBatch(ctx, client, opened.ID)
	used, measureErr := m.stop()
	if err := firstError(err, measureErr); err != nil {
		return err
	}
	f.Result = used.perJob(int64(b.Tasks))
	slices.Sort(views)
	f.ViewMillis, f.ViewMax = millis(views[len(views)/2]), millis(views[len(views)-1])
	return nil
}

// create stores all tasks. The first waits for the node to have joined.
func (b Batches) create(ctx context.Context, client *fairlead.Client, queue string) (*fairlead.NewBatch, error) {
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

func (b Batches) begin(ctx context.Context, client *fairlead.Client, queue string) (*fairlead.NewBatch, error) {
	const patience = 10 * time.Second
	for began := time.Now(); ; {
		batch, err := client.BeginBatch(ctx, fairlead.Batch{Name: "bench", Type: KindNoop, Queue: queue})
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

func noopChange(i int) fairlead.Change {
	return fairlead.Change{
		Target: fairlead.Target{ID: fmt.Sprintf("target-%d", i), Type: "bench"},
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

// followBatch looks at a batch until it has completed, and tells how long each look took.
func followBatch(ctx context.Context, client *fairlead.Client, id int64) ([]time.Duration, error) {
	const between = 100 * time.Millisecond
	var views []time.Duration
	for {
		began := time.Now()
		batch, err := client.Batch(ctx, id)
		if err != nil {
			return nil, err
		}
		views = append(views, time.Since(began))
		if !batch.EndedAt.IsZero() {
			if state := batch.State(); state != fairlead.BatchSuccess {
				return nil, fmt.Errorf("the batch ended as %s: %+v", state, batch.Tally)
			}
			return views, nil
		}
		if err := pause(ctx, between); err != nil {
			return nil, err
		}
	}
}

// WriteJSON writes the figures as one line.
func (f BatchFigures) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(f) }

// WriteTable writes the figures for people.
func (f BatchFigures) WriteTable(w io.Writer) error {
	if err := f.Result.WriteTable(w); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "created in\t%.2f s\n", f.CreateSeconds)
	fmt.Fprintf(table, "view\t%.2f ms, at most %.2f ms\n", f.ViewMillis, f.ViewMax)
	fmt.Fprintf(table, "plain jobs\t%s jobs/s, stored in %.1f s\n", Grouped(f.PlainRate), f.PlainSeconds)
	fmt.Fprintf(table, "ratio\t%.2f of all, %.2f once stored\n", f.Ratio, f.DrainRatio)
	return table.Flush()
}
