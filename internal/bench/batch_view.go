package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// Watch is a batch that another process reads repeatedly while it runs, like users and
// programs that show its progress. The machine is busy during that time: so with every read
// of the batch, the process also reads the list of nodes, a single row, which shows how
// much of the duration is waiting for a CPU core.
type Watch struct {
	URL   string `json:"url"` // not on the command line, because it may contain a password
	Batch int64  `json:"batch"`
}

// views contains the durations of reads.
type views struct {
	Batch []time.Duration `json:"batch"`
	Nodes []time.Duration `json:"nodes"`
}

// viewFigures contains statistics on the reads, in milliseconds.
type viewFigures struct {
	ViewMillis float64 `json:"view_ms"` // median
	ViewP99    float64 `json:"view_p99_ms"`
	ViewMax    float64 `json:"view_max_ms"`
	NodeMillis float64 `json:"nodes_ms"`
	NodeP99    float64 `json:"nodes_p99_ms"`
	NodeMax    float64 `json:"nodes_max_ms"`
	ViewIdle   float64 `json:"view_idle_ms"` // median when the batch has completed
}

// watching is a process that reads a batch.
type watching struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output io.Reader
}

// start starts the command, a program that reads the Watch and calls ServeViews.
func (w Watch) start(ctx context.Context, command []string) (*watching, error) {
	// The process ends at the end of its input.
	p := &watching{cmd: exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.output, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the batch viewer: %w", err)
	}
	if err := json.NewEncoder(p.input).Encode(w); err != nil {
		return nil, firstError(p.stop(), err)
	}
	return p, nil
}

// result waits for the batch to complete.
func (p *watching) result(ctx context.Context) (views, error) {
	defer context.AfterFunc(ctx, func() { p.input.Close() })()
	var v views
	err := json.NewDecoder(p.output).Decode(&v)
	if err := firstError(context.Cause(ctx), p.stop()); err != nil {
		return v, fmt.Errorf("batch viewer: %w", err)
	}
	return v, err
}

// stop ends the process and waits for it.
func (p *watching) stop() error {
	p.input.Close()
	return p.cmd.Wait()
}

// ServeViews reads a batch repeatedly until it has completed or the input ends, and writes
// the durations.
func ServeViews(ctx context.Context, store driver.Store, batch int64, input io.Reader, output io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, input) // without the parent, the result is useless
		cancel()
	}()
	v, err := viewToTheEnd(ctx, store, batch)
	if err != nil {
		return err
	}
	return json.NewEncoder(output).Encode(v)
}

func viewToTheEnd(ctx context.Context, store driver.Store, id int64) (v views, err error) {
	const between = 50 * time.Millisecond
	client := batch.NewClient(store)
	for ended, odd := false, false; !ended; odd = !odd {
		// The first query after a pause takes longer, so alternate the order.
		if odd {
			err = v.lookAtNodes(ctx, store)
		}
		if err == nil {
			ended, err = v.look(ctx, client, id)
		}
		if err == nil && !odd {
			err = v.lookAtNodes(ctx, store)
		}
		if err == nil && !ended {
			err = pause(ctx, between)
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// look reads the batch once, and reports whether it has completed.
func (v *views) look(ctx context.Context, client *batch.Client, id int64) (ended bool, err error) {
	began := time.Now()
	b, err := client.Get(ctx, id)
	if errors.Is(err, fairlead.ErrNotFound) { // about to be opened
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Batch = append(v.Batch, time.Since(began))
	if b.EndedAt.IsZero() {
		return false, nil
	}
	if state := b.State(); state != batch.Success {
		return false, fmt.Errorf("the batch ended as %s: %+v", state, b.Tally)
	}
	return true, nil
}

func (v *views) lookAtNodes(ctx context.Context, store driver.Store) error {
	began := time.Now()
	_, err := store.Nodes(ctx)
	v.Nodes = append(v.Nodes, time.Since(began))
	return err
}

// idleView returns the median duration of reading a batch on an idle system.
func idleView(ctx context.Context, client *batch.Client, id int64) (float64, error) {
	const looks = 50
	var v views
	for range looks {
		if _, err := v.look(ctx, client, id); err != nil {
			return 0, err
		}
	}
	return v.figures().ViewMillis, nil
}

func (v *views) figures() viewFigures {
	return viewFigures{
		ViewMillis: millis(quantile(v.Batch, 0.50)), ViewP99: millis(quantile(v.Batch, 0.99)), ViewMax: millis(quantile(v.Batch, 1)),
		NodeMillis: millis(quantile(v.Nodes, 0.50)), NodeP99: millis(quantile(v.Nodes, 0.99)), NodeMax: millis(quantile(v.Nodes, 1)),
	}
}

func (f *viewFigures) writeViews(w io.Writer) {
	fmt.Fprintf(w, "view\t%.2f ms, p99 %.2f ms, max %.2f ms; after completion %.2f ms\n", f.ViewMillis, f.ViewP99, f.ViewMax, f.ViewIdle)
	fmt.Fprintf(w, "list of nodes\t%.2f ms, p99 %.2f ms, max %.2f ms\n", f.NodeMillis, f.NodeP99, f.NodeMax)
}
