package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/muesli/cancelreader"

	"github.com/fairlead-io/fairlead/internal/screen"
)

const (
	// sizeEvery is the interval at which the screen size is checked. A signal would report
	// changes, but not on every system.
	sizeEvery = 200 * time.Millisecond
	// wholeKey is the time within which the remaining bytes of a key must arrive. After
	// that, an escape counts as a key.
	wholeKey = 50 * time.Millisecond
)

// Run shows the state of source until the user presses q or ctx ends. It returns an error if
// the first snapshot fails. It retries later snapshots that fail.
func Run(ctx context.Context, source Source, every time.Duration, in io.Reader, out *screen.Screen) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin, err := source.Look(ctx)
	if err != nil {
		return err
	}
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return err
	}
	terminal, err := openTerminal(in, out.Out)
	if err != nil {
		return errors.Join(err, input.Close())
	}
	sent, ended := make(chan []byte), make(chan struct{})
	go func() {
		defer close(ended)
		read(ctx, input, sent)
	}()
	defer func() {
		cancel()
		if input.Cancel() {
			<-ended
		}
		err = errors.Join(err, input.Close(), terminal.close())
	}()
	return show(ctx, NewModel(source.URL, begin, out.Color), source.Look, every, sent, terminal)
}

// read sends the terminal's input to a channel.
func read(ctx context.Context, input io.Reader, sent chan<- []byte) {
	defer close(sent)
	for {
		some := make([]byte, 256)
		n, err := input.Read(some)
		if n > 0 {
			select {
			case sent <- some[:n]:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// looked is the result of a snapshot.
type looked struct {
	snapshot Snapshot
	err      error
}

// show draws the model after each change. At most one snapshot is in progress.
func show(ctx context.Context, m Model, look func(context.Context) (Snapshot, error), every time.Duration, sent <-chan []byte, terminal *terminal) error {
	ctx, cancel := context.WithCancel(ctx)
	looks, looking := make(chan looked), false
	defer func() {
		cancel()
		if looking {
			<-looks
		}
	}()
	again, resized := time.NewTimer(every), time.NewTicker(sizeEvery)
	defer again.Stop()
	defer resized.Stop()
	var begun []byte // beginning of a key
	var whole <-chan time.Time
	press := func(all bool) {
		var keys []key
		keys, begun = keysOf(begun, all)
		for _, key := range keys {
			m = m.pressed(key)
		}
		if whole = nil; len(begun) > 0 {
			whole = time.After(wholeKey)
		}
	}
	for !m.quit {
		if width, height, known := terminal.size(); known {
			m.width, m.height = width, height
		}
		if err := terminal.draw(m.lines(), m.height); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // a signal works like q
		case <-resized.C:
		case some, open := <-sent:
			if !open {
				sent = nil // the input has ended; a signal ends the view
				continue
			}
			begun = append(begun, some...)
			press(false)
		case <-whole:
			press(true)
		case <-again.C:
			if m.paused {
				again.Reset(every)
				continue
			}
			looking = true
			go func() {
				snapshot, err := look(ctx)
				looks <- looked{snapshot, err}
			}()
		case seen := <-looks:
			looking = false
			m = m.looked(seen)
			again.Reset(every)
		}
	}
	return nil
}

// Once writes the current state of source to out.
func Once(ctx context.Context, source Source, out *screen.Screen) error {
	now, err := source.Look(ctx)
	if err != nil {
		return err
	}
	total := now.Total
	fmt.Fprintf(out.Out, "%s  scheduled %d  parked %d  ready %d  running %d  waiting %d  starts/s %.1f  oldest wait %s\n",
		screen.Clean(source.URL), total.GetScheduled(), total.GetParked(), total.GetReady(), total.GetRunning(), total.GetWaiting(),
		total.GetStarted(), span(total.GetOldestWait().AsDuration()))
	queues := out.Table("QUEUE", "READY", "RUNNING", "OLDEST WAIT", "PAUSED")
	for _, q := range now.Queues {
		queues.Add(q.GetName(), q.GetReady(), q.GetRunning()+q.GetWaiting(), q.GetOldestWait(), q.GetPaused())
	}
	tenants := out.Table("TENANT", "READY", "USED", "MAX RUNNING", "STARTS/S")
	for _, u := range now.Tenants {
		tenants.Add(u.GetTenant(), u.GetReady(), u.GetRunning()+u.GetWaiting(), screen.Limit(u.GetMaxRunning()), screen.Rate(u.GetStarted()))
	}
	nodes := out.Table("NODE", "NAME", "SLOTS", "IDLE", "LAST BEAT", "DRAINING", "DEAD")
	for _, n := range now.Nodes {
		nodes.Add(n.GetId(), n.GetName(), n.GetSlots(), n.GetIdleSlots(), n.GetLastBeat(), n.GetDraining(), n.GetDead())
	}
	failed := out.Table("FAILED JOB", "KIND", "TENANT", "ENDED", "ERROR")
	for _, job := range now.Failures[:min(len(now.Failures), 10)] {
		failed.Add(job.GetId(), job.GetKind(), job.GetTenant(), job.GetFinishedAt(), job.GetError())
	}
	for _, table := range []*screen.Table{queues, tenants, nodes, failed} {
		fmt.Fprintln(out.Out)
		if err := table.Write(); err != nil {
			return err
		}
	}
	return nil
}
