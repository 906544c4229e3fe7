package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// SweepScenario is a sweep on nodes that are killed.
type SweepScenario struct {
	URL      string // URL of an empty database that all workers share
	Open     Opener
	Dir      string // directory for notes and logs
	Seed     uint64
	Items    int64
	Shards   int
	InFlight int
	Rate     float64
	Workers  int
	Node     Node
	Every    time.Duration // minimum time between two kills

	// RetryRate, if set, makes a third of the items fail at first. When the sweep has
	// finished, all failed items are retried at this rate.
	RetryRate float64
}

// SweepRecord is the record of a simulated sweep: its attempts, failures and writes.
type SweepRecord struct {
	Items   int64
	Shards  int
	Sweep   sweep.Sweep // final state
	Kills   int
	Notes   []Note   // notes written by workers, ordered by time
	Seen    []Mark   // marks in the database during the run, in order
	Failed  []int64  // failed items in the final database, in order
	Retried *Retried // set if failed items were retried
}

// Mark is the progress of a shard.
type Mark struct {
	Shard int
	Mark  int64
}

// RunSweep runs a scenario. An error means that the scenario could not run to its end, not
// that a rule was violated.
func RunSweep(ctx context.Context, s SweepScenario) (_ SweepRecord, err error) {
	store, err := s.Open(ctx, s.URL)
	if err != nil {
		return SweepRecord{}, fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	d := &sweepDriver{SweepScenario: s, store: store, client: sweep.NewClient(store), random: rand.New(rand.NewPCG(s.Seed, s.Seed)), marks: map[int]int64{}}
	err = d.play(ctx)
	for _, p := range d.workers {
		if !p.exited() {
			err = errors.Join(err, p.kill())
		}
	}
	if err != nil {
		return d.record, err
	}
	return d.record, d.finish(ctx)
}

// sweepDriver is a running scenario. It belongs to one goroutine.
type sweepDriver struct {
	SweepScenario
	store   driver.Store
	client  *sweep.Client
	random  *rand.Rand
	workers []*process
	lives   int
	id      int64         // ID of the sweep
	marks   map[int]int64 // last seen marks, by shard
	reached sweepReached
	since   time.Time    // time when that was first seen
	spared  sweepReached // progress at the last kill
	unseen  error        // error of the last query
	record  SweepRecord
}

// sweepReached is the progress of a sweep.
type sweepReached struct {
	state                    sweep.State
	marks                    int64 // sum over all shards
	done, abandoned, retried int64
}

func (d *sweepDriver) play(ctx context.Context) error {
	for range d.Workers {
		p, err := d.launch()
		if err != nil {
			return err
		}
		d.workers = append(d.workers, p)
	}
	if err := d.begin(ctx); err != nil {
		return err
	}
	const look = 50 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	d.since = time.Now()
	for kill := d.since.Add(d.Every); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		over, err := d.look(ctx)
		if over && err == nil {
			over, err = d.retry(ctx)
		}
		if over || err != nil {
			return err
		}
		if time.Since(d.since) > GiveUp {
			return fmt.Errorf("nothing has progressed for %v, and the sweep is %s: %+v; the last look at the database: %w", GiveUp, d.record.Sweep.State, d.record.Sweep.Progress, d.unseen)
		}
		// Otherwise no worker on a slow machine would live long enough to store anything.
		if time.Now().After(kill) && d.reached != d.spared {
			kill, d.spared = time.Now().Add(d.Every), d.reached
			if err := d.replace(ctx); err != nil {
				return err
			}
		}
	}
}

// begin stores the sweep and starts it.
func (d *sweepDriver) begin(ctx context.Context) error {
	made, err := d.client.Put(ctx, sweep.Sweep{
		Name: "sim", Kind: sweepKind, To: d.Items, Shards: d.Shards, InFlight: d.InFlight, Rate: d.Rate, Budget: sweep.Budget{Items: d.Items},
		Data: d.firstData(),
	})
	if err != nil {
		return err
	}
	d.id = made.ID
	_, err = d.client.Start(ctx, made.ID, "sim")
	return err
}

func (d *sweepDriver) launch() (*process, error) {
	d.lives++
	return startProcess("", orders{URL: d.URL, Name: fmt.Sprintf("w%d", d.lives), Dir: d.Dir, Node: d.Node, Items: true})
}

// replace kills a worker, if possible one that processes a shard, and starts another.
func (d *sweepDriver) replace(ctx context.Context) error {
	i, err := d.victim(ctx)
	if d.unseen = err; err != nil { // the database is busy; try later
		return ctx.Err()
	}
	if err := d.workers[i].kill(); err != nil {
		return err
	}
	d.record.Kills++
	d.workers[i], err = d.launch()
	return err
}

// victim returns a random worker: one of those that process shards, or otherwise any.
func (d *sweepDriver) victim(ctx context.Context) (int, error) {
	jobs, err := d.store.Find(ctx, fairlead.Filter{Kinds: []string{sweep.KindOf(sweepKind)}, States: []fairlead.State{fairlead.Running}, Limit: sweep.MaxShards})
	if err != nil {
		return 0, err
	}
	nodes, err := d.store.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	var busy []int
	for _, job := range jobs {
		for _, node := range nodes {
			at := slices.IndexFunc(d.workers, func(p *process) bool { return p.name == node.Name })
			if node.ID == job.Node && at >= 0 {
				busy = append(busy, at)
			}
		}
	}
	if len(busy) == 0 {
		return d.random.IntN(len(d.workers)), nil
	}
	return busy[d.random.IntN(len(busy))], nil
}

// look reports whether the sweep has ended, and records the marks. It tries again if the
// database is busy.
func (d *sweepDriver) look(ctx context.Context) (bool, error) {
	shards, err := d.store.Shards(ctx, d.id)
	if d.unseen = err; err != nil {
		return false, nil //nolint:nilerr // it is kept in unseen
	}
	var reached sweepReached
	for _, s := range shards {
		if seen, ok := d.marks[s.Number]; !ok || s.Mark != seen {
			d.record.Seen = append(d.record.Seen, Mark{s.Number, s.Mark})
		}
		d.marks[s.Number] = s.Mark
		reached.marks += s.Mark
	}
	sw, err := d.client.ByID(ctx, d.id)
	if d.unseen = err; err != nil {
		return false, nil //nolint:nilerr // as above
	}
	d.record.Sweep = sw
	if sw.State == sweep.Stopped {
		return true, fmt.Errorf("the sweep stopped: %s", sw.Reason)
	}
	reached.state, reached.done, reached.abandoned, reached.retried = sw.State, sw.Done, sw.Abandoned, -sw.Again
	if reached != d.reached {
		d.reached, d.since = reached, time.Now()
	}
	return sw.State == sweep.Finished, nil
}

// finish reads the notes of the workers and the failed items.
func (d *sweepDriver) finish(ctx context.Context) (err error) {
	d.record.Items, d.record.Shards = d.Items, d.Shards
	if d.record.Notes, err = readNotes(d.Dir); err != nil {
		return err
	}
	d.record.Failed, err = d.failed(ctx)
	return err
}
