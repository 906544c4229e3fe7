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
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep"
)

// SweepWorkload is the name of the workload that measures sweeps.
const SweepWorkload = "sweep"

// Sweeps measures a sweep over many items with a handler that does nothing.
type Sweeps struct {
	Store    fairlead.Store
	Server   Server
	Progress *Progress
	Items    int64   // default 10,000,000
	InFlight int     // default 16
	Shards   int     // default 1
	Rate     float64 // items per second; zero: no bound
}

// SweepFigures is what the workload measured. Programs read it as JSON: names stay.
type SweepFigures struct {
	Result // of the sweep, from when it was started until it has finished

	Items           int64   `json:"items"`
	ItemMicros      float64 `json:"client_us_per_item"`
	CheckpointBytes int     `json:"checkpoint_bytes"` // the most that a shard had stored
	RSSMegabytes    float64 `json:"rss_mb"`           // of this process, at the end
	RSSGrowth       float64 `json:"rss_growth_mb"`    // since a tenth was done
}

// Run measures.
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
	working, stop := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := s.work(working, kind, queue)
		if working.Err() == nil {
			err = errors.Join(errors.New("the node ended"), err)
			stop(err)
		}
		ended <- err
	}()
	err = s.sweep(working, kind, queue, &f)
	stop(nil)
	return f, firstError(err, <-ended)
}

// work is a node that handles the items.
func (s Sweeps) work(ctx context.Context, kind, queue string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	mux := fairlead.NewMux()
	sweep.Handle(mux, s.Store, kind, sweep.Options{Logger: log}, func(context.Context, sweep.Item[json.RawMessage]) error { return nil })
	return engine.Run(ctx, s.Store, mux, engine.Options{
		Name: "bench", Slots: max(s.Shards, 1), Queues: []engine.Queue{{Name: queue}}, Retention: keepAll(), Logger: log,
	})
}

// sweep creates a sweep and follows it to its end.
func (s Sweeps) sweep(ctx context.Context, kind, queue string, f *SweepFigures) error {
	client := fairlead.NewClient(s.Store)
	created, err := client.PutSweep(ctx, fairlead.Sweep{
		Name: kind, Kind: kind, Queue: queue, To: s.Items, InFlight: s.InFlight, Shards: s.Shards, Rate: s.Rate,
	})
	if err != nil {
		return err
	}
	var done atomic.Int64
	defer s.Progress.watch(SweepWorkload, s.Items, done.Load)()
	m, err := startMeter(ctx, s.Server)
	if err != nil {
		return err
	}
	if _, err := client.StartSweep(ctx, created.ID, ""); err != nil {
		return err
	}
	err = s.follow(ctx, client, created.ID, &done, f)
	used, measureErr := m.stop()
	if err := firstError(err, measureErr); err != nil {
		return err
	}
	f.Result = used.perJob(s.Items)
	f.Items = s.Items
	f.ItemMicros = round(micros(used.client)/float64(s.Items), 4)
	return nil
}

// follow looks at a sweep until it has finished.
func (s Sweeps) follow(ctx context.Context, client *fairlead.Client, id int64, done *atomic.Int64, f *SweepFigures) error {
	const between = 100 * time.Millisecond
	early := 0.0
	for {
		now, err := client.SweepByID(ctx, id)
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
		if early == 0 && now.Done >= s.Items/10 {
			early = residentMegabytes()
		}
		switch now.State {
		case fairlead.SweepFinished:
			if now.Done != s.Items {
				return fmt.Errorf("the sweep finished with %d of %d items done", now.Done, s.Items)
			}
			f.RSSMegabytes = residentMegabytes()
			f.RSSGrowth = round(f.RSSMegabytes-early, 1)
			return nil
		case fairlead.SweepStopped:
			return fmt.Errorf("the sweep stopped: %s", now.Reason)
		}
		if err := pause(ctx, between); err != nil {
			return err
		}
	}
}

// storedBytes is about what a checkpoint of a shard takes: numbers and bitmap.
func storedBytes(s *fairlead.Shard) int {
	const numbers = 12 * 8
	return numbers + len(s.Window) + len(s.Pending) + len(s.Source)
}

// residentMegabytes is the memory of this process; zero where that is not known.
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

// WriteJSON writes the figures as one line.
func (f SweepFigures) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(f) }

// WriteTable writes the figures for people.
func (f SweepFigures) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "workload\t%s\nstore\t%s\n", f.Workload, f.Store)
	fmt.Fprintf(table, "items\t%s\ntime\t%.2f s\n", Grouped(float64(f.Items)), f.Seconds)
	fmt.Fprintf(table, "rate\t%s items/s\n", Grouped(f.Rate))
	fmt.Fprintf(table, "client CPU\t%.3f µs/item\n", f.ItemMicros)
	fmt.Fprintf(table, "checkpoint\t%d bytes\n", f.CheckpointBytes)
	fmt.Fprintf(table, "memory\t%.1f MB, %.1f MB more than at a tenth\n", f.RSSMegabytes, f.RSSGrowth)
	return table.Flush()
}
