package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// SweepWorkload is the name of the workload that measures sweeps.
const SweepWorkload = "sweep"

// Sweeps measures a sweep over many items with an empty handler.
type Sweeps struct {
	Store    driver.Store
	Server   Server
	Progress *Progress
	Items    int64   // default 10,000,000
	InFlight int     // default 16
	Shards   int     // default 1
	Rate     float64 // items per second; zero = unlimited
	Seconds  float64 // time after which it is stopped; zero = it runs to its end
}

// SweepFigures contains the results. Programs read it as JSON, so names are stable.
type SweepFigures struct {
	Result // for the sweep, from its start until it has finished or was stopped

	Items           int64   `json:"items"`
	StartMillis     float64 `json:"start_ms"` // from the call that started it to its first item
	ItemMicros      float64 `json:"client_us_per_item"`
	CheckpointBytes int     `json:"checkpoint_bytes"` // maximum stored size of a shard
	CheckpointTime  float64 `json:"checkpoint_ms"`    // median time to store one
	RSSMegabytes    float64 `json:"rss_mb"`           // of this process, at the end
	RSSGrowth       float64 `json:"rss_growth_mb"`    // since a tenth of the items was done
}

// Run performs the measurement.
func (s Sweeps) Run(ctx context.Context) (SweepFigures, error) {
	s.InFlight, s.Shards = orElse(s.InFlight, 16), orElse(s.Shards, 1)
	if s.Items == 0 {
		s.Items = 10_000_000
	}
	figures, err := s.measure(ctx)
	if err != nil {
		return SweepFigures{}, fmt.Errorf("%s: %w", SweepWorkload, err)
	}
	figures.Workload, figures.Store = SweepWorkload, s.Server.Name()
	return figures, nil
}

func (s Sweeps) measure(ctx context.Context) (f SweepFigures, err error) {
	kind, queue := KindOwn+"-"+randomText(8), OwnQueue()
	saves := &timedSaves{Store: s.Store}
	s.Store = saves
	var first atomic.Int64
	working, stop := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := s.work(working, kind, queue, &first)
		if working.Err() == nil {
			err = errors.Join(errors.New("the node ended"), err)
			stop(err)
		}
		ended <- err
	}()
	started, err := s.sweep(working, kind, queue, &f)
	stop(nil)
	if err := firstError(err, <-ended); err != nil {
		return f, err
	}
	f.StartMillis = millis(time.Unix(0, first.Load()).Sub(started))
	f.CheckpointTime = millis(quantile(saves.waits, 0.50))
	return f, nil
}

// timedSaves is a store that measures the duration of checkpoints.
type timedSaves struct {
	driver.Store
	stopwatch
}

// Checkpoint stores a checkpoint and measures the duration.
func (s *timedSaves) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	began := time.Now()
	orders, err := s.Store.Checkpoint(ctx, checkpoint)
	s.started(time.Since(began))
	return orders, err
}

// work runs a node that handles the items. It records the time of the first item.
func (s Sweeps) work(ctx context.Context, kind, queue string, first *atomic.Int64) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	mux := fairlead.NewMux()
	items.Handle(mux, s.Store, kind, items.Options{Logger: log}, func(context.Context, items.Item[json.RawMessage]) error {
		if first.Load() == 0 {
			first.CompareAndSwap(0, time.Now().UnixNano())
		}
		return nil
	})
	return engine.Run(ctx, s.Store, mux, engine.Options{
		Name: "bench", Slots: max(s.Shards, 1), Queues: []engine.Queue{{Name: queue}}, Retention: keepAll(), Logger: log,
	})
}

// sweep creates a sweep and follows it to its end. It returns the start time.
func (s Sweeps) sweep(ctx context.Context, kind, queue string, f *SweepFigures) (started time.Time, err error) {
	client := sweep.NewClient(s.Store)
	created, err := client.Put(ctx, sweep.Sweep{
		Name: kind, Kind: kind, Queue: queue, To: s.Items, InFlight: s.InFlight, Shards: s.Shards, Rate: s.Rate,
	})
	if err != nil {
		return started, err
	}
	var done atomic.Int64
	defer s.Progress.watch(SweepWorkload, s.Items, done.Load)()
	m, err := startMeter(ctx, s.Server)
	if err != nil {
		return started, err
	}
	started = time.Now()
	if _, err := client.Start(ctx, created.ID, ""); err != nil {
		return started, err
	}
	err = s.follow(ctx, client, created.ID, &done, f)
	used, measureErr := m.stop()
	if err := firstError(err, measureErr); err != nil {
		return started, err
	}
	f.Items = done.Load()
	f.Result = used.perJob(f.Items)
	f.ItemMicros = round(micros(used.client)/max(1, float64(f.Items)), 4)
	return started, nil
}

// follow polls a sweep until it has finished, or was stopped at the end of its time.
func (s Sweeps) follow(ctx context.Context, client *sweep.Client, id int64, done *atomic.Int64, f *SweepFigures) error {
	const between = 100 * time.Millisecond
	began, early, stopping := time.Now(), 0.0, false
	for {
		now, err := client.ByID(ctx, id)
		if err != nil {
			return err
		}
		shards, err := s.Store.Shards(ctx, id)
		if err != nil {
			return err
		}
		for i := range shards {
			f.CheckpointBytes = max(f.CheckpointBytes, storedBytes(&shards[i]))
		}
		done.Store(now.Done)
		elapsed := time.Since(began).Seconds()
		if early == 0 && (now.Done >= s.Items/10 || s.Seconds > 0 && elapsed >= s.Seconds/10) {
			early = residentMegabytes()
		}
		f.RSSMegabytes = residentMegabytes()
		f.RSSGrowth = round(f.RSSMegabytes-early, 1)
		switch {
		case now.State == sweep.Finished && now.Done != s.Items:
			return fmt.Errorf("the sweep finished with %d of %d items done", now.Done, s.Items)
		case now.State == sweep.Finished || now.State == sweep.Stopped && stopping:
			return nil
		case now.State == sweep.Stopped:
			return fmt.Errorf("the sweep stopped: %s", now.Reason)
		case now.State == sweep.Running && s.Seconds > 0 && elapsed >= s.Seconds:
			stopping = true
			if _, err := client.Stop(ctx, id, "", ""); err != nil && !errors.Is(err, fairlead.ErrConflict) {
				return err
			}
		}
		if err := pause(ctx, between); err != nil {
			return err
		}
	}
}

// storedBytes returns the approximate size of a shard's checkpoint: numbers and bitmap.
func storedBytes(s *sweep.Shard) int {
	const numbers = 12 * 8
	return numbers + len(s.Window) + len(s.Pending) + len(s.Source)
}

// residentMegabytes returns the memory of this process, or zero if it is unknown.
func residentMegabytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return round(float64(resident*int64(os.Getpagesize()))/1e6, 1)
}

// WriteTable writes the figures as a table for people.
func (f SweepFigures) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "workload\t%s\nstore\t%s\n", f.Workload, f.Store)
	fmt.Fprintf(table, "items\t%s\ntime\t%.2f s\n", Grouped(float64(f.Items)), f.Seconds)
	fmt.Fprintf(table, "rate\t%s items/s\n", Grouped(f.Rate))
	fmt.Fprintf(table, "client CPU\t%.3f µs/item\n", f.ItemMicros)
	fmt.Fprintf(table, "server CPU\t%.2f µs/item\nlog\t%.3f B/item\n", f.ServerMicros, f.WALBytes)
	fmt.Fprintf(table, "start\t%.1f ms to the first item\n", f.StartMillis)
	fmt.Fprintf(table, "checkpoint\t%d bytes, %.2f ms\n", f.CheckpointBytes, f.CheckpointTime)
	fmt.Fprintf(table, "memory\t%.1f MB, %.1f MB more than after a tenth of the items\n", f.RSSMegabytes, f.RSSGrowth)
	return table.Flush()
}
