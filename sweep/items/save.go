package items

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

const (
	// every is how often a run stores how far it has come. It hears of a stop then.
	every = 600 * time.Millisecond
	// fresh is how long after it asked for orders a run goes by them. A stop is heard
	// of within a second, or nothing is begun, however long the store takes.
	fresh = time.Second
	// patience is how long the store may take for it.
	patience = 5 * time.Second
)

// resume is where the run goes on.
func (r *Run) resume() (*sweeping.Checkpoint, error) {
	s := &r.shard
	c := &sweeping.Checkpoint{
		Mark: s.Mark, Window: s.Window,
		Counts: sweeping.Counts{Done: s.Done, Abandoned: s.Abandoned}, Again: s.Again,
	}
	r.counted = s.Done + s.Abandoned - s.Again
	var err error
	if c.Aside, err = sweeping.DecodePending(s.Pending); err != nil {
		return nil, fmt.Errorf("shard %d: decode the stored items to retry: %w", s.Number, err)
	}
	return c, nil
}

// report stores what was stored before, and asks for orders.
func (r *Run) report(ctx context.Context) (sweep.Orders, error) {
	orders, err := r.store(ctx, r.checkpoint())
	if err == nil && orders.Stop {
		err = errOrdered
	}
	return orders, err
}

// checkpoint is how the shard stands.
func (r *Run) checkpoint() sweep.Checkpoint {
	s := &r.shard
	return sweep.Checkpoint{
		Sweep: r.Sweep.ID, Job: r.Job.ID, Fence: r.Job.Fence, Number: s.Number,
		To: s.To, Mark: s.Mark, Behind: s.Behind, Window: s.Window, Pending: s.Pending, Done: s.Done, Abandoned: s.Abandoned, Again: s.Again, Errors: s.Errors, Used: r.told,
	}
}

func (r *Run) store(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked := time.Now()
	orders, err := r.book.Checkpoint(ctx, c)
	if err == nil {
		r.told = orders.Share
		if orders.Share.InFlight > 0 { // else it goes by what it heard before, until that is too old
			r.heard.Store(&asked)
		}
	}
	return orders, err
}

// fresh is until when the run may go by what it heard last.
func (r *Run) fresh() time.Time { return r.heard.Load().Add(fresh) }

// save stores a checkpoint of the runner and passes on what comes back.
func (r *Run) save(ctx context.Context, made sweeping.Checkpoint) (sweeping.Orders, error) {
	c := r.checkpoint()
	c.Mark, c.Window, c.Behind = made.Mark, made.Window, sweeping.Behind(made.Mark, made.Aside)
	var err error
	if c.Pending, err = sweeping.EncodePending(made.Aside); err != nil {
		return sweeping.Orders{}, err
	}
	c.Done, c.Abandoned, c.Again = made.Counts.Done, made.Counts.Abandoned, made.Again
	c.Errors += made.Counts.Retried + made.Counts.Failed // of this run
	c.Failed, c.Redone = r.failed(made.Failed), made.Redone
	// One that was stopped may have had its last items in flight.
	nothingLeft := made.Mark == r.shard.To && len(made.Aside) == 0 && made.Again == 0
	c.Ended = made.Ending.End == sweeping.Finished || made.Ending.End == sweeping.Stopped && nothingLeft
	if c.Used.InFlight = max(r.told.InFlight, made.Busy); r.told.InFlight == 0 {
		c.Used.Rate = sweep.LeastRate
	}
	c.Measured = r.measure(c.Done + c.Abandoned - c.Again)
	if made.Ending.End == sweeping.Running {
		r.seekShare(ctx)
	}
	before := r.told
	orders, err := r.store(ctx, c)
	if err != nil {
		return sweeping.Orders{}, err
	}
	r.progress(ctx, &c)
	obeyed := r.obey(orders, made.Counts)
	obeyed.Confirm = before.Or(orders.Share) != orders.Share // others may have what it has no more
	obeyed.Soon = r.lacksShare() && r.sought < mostSought/2
	return obeyed, nil
}

// measure is how many items have ended per second of late.
func (r *Run) measure(ended int64) float64 {
	now, rate := time.Now(), 0.0
	if elapsed := now.Sub(r.saved); !r.saved.IsZero() && elapsed > 0 {
		rate = float64(ended-r.counted) / elapsed.Seconds()
	}
	r.saved, r.counted = now, ended
	return rate
}

// progress makes the store forget crashes of the job once it has come further: a
// shard that runs for weeks may well be in many, and is no danger to its nodes. A
// suspect is given back, so that it does not keep other suspects waiting.
func (r *Run) progress(ctx context.Context, c *sweep.Checkpoint) {
	if r.forgave || r.Job.Crashes == 0 || c.Done+c.Abandoned-c.Again == r.shard.Done+r.shard.Abandoned-r.shard.Again {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if fairlead.Progress(ctx, map[string]int64{"mark": c.Mark}) != nil {
		return // the next checkpoint tries again
	}
	r.forgave = true
	if r.Job.Solo {
		r.anew.Store(true)
		r.runner.Stop()
	}
}

// obey translates orders.
func (r *Run) obey(orders sweep.Orders, counts sweeping.Counts) sweeping.Orders {
	if orders.Stop {
		r.ordered.Store(true)
	}
	rate, inFlight, budget := orders.Share.Rate, orders.Share.InFlight, orders.Left
	if inFlight == 0 {
		rate = pace.Held
	}
	may := budget
	if budget >= 0 {
		// What is left counts from this checkpoint on.
		may += counts.Failed - counts.Exhausted
		budget += counts.Exhausted
	}
	r.mayAbandon.Store(may)
	if !bytes.Equal(orders.Data, r.data) {
		r.update(orders.Data)
	}
	return sweeping.Orders{Stop: orders.Stop, Rate: &rate, InFlight: &inFlight, Budget: &budget}
}

// update takes up data that has changed. If it does not fit, items fail until it does.
func (r *Run) update(data json.RawMessage) {
	r.data = data
	r.confide(data)
	next, err := r.handler.prepare(r, data)
	if err != nil {
		next = refusing(err)
	}
	r.handling.Store(&next)
}

// refusing stops the sweep with the next item.
func refusing(err error) handling {
	stop := sweeping.Outcome{Verdict: sweeping.Stop, Err: err}
	return handling{
		one: func(context.Context, sweeping.Item) sweeping.Outcome { return stop },
		many: func(_ context.Context, _ []sweeping.Item, outcomes []sweeping.Outcome) {
			for i := range outcomes {
				outcomes[i] = stop
			}
		},
	}
}

// record stores what was logged of items before they count.
func (r *Run) record(ctx context.Context, records []sweeping.Record) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var logs []sweep.Log
	for i := range records {
		one := &records[i]
		for _, line := range one.Logs {
			logs = append(logs, sweep.Log{Sweep: r.Sweep.ID, Index: one.Index, Level: strings.ToLower(line.Level.String()), Text: short(line.Text)})
		}
	}
	err := r.book.AddLogs(ctx, logs)
	if err != nil && !errors.Is(err, fairlead.ErrLeaseLost) {
		r.handler.options.Logger.Warn("item log lines not stored yet", "sweep", r.Sweep.ID, "items", len(records), "error", err)
	}
	return err
}

// longest is how much of a text about an item is kept.
const longest = 2000

// short bounds a text, and leaves out what is no text.
func short(text string) string {
	if len(text) > longest {
		text = text[:longest]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
