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
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// SweepPost is the configuration of a node in a separate process. It is the first line of
// the node's input.
type SweepPost struct {
	Name  string        `json:"name"`
	URL   string        `json:"url"` // not on the command line, because it may contain a password
	Queue string        `json:"queue"`
	Kind  string        `json:"kind"`
	Slots int           `json:"slots"`
	Lease time.Duration `json:"lease"`
}

// ReadSweepPost reads the SweepPost as the first step of such a node.
func ReadSweepPost(input *bufio.Reader) (SweepPost, error) {
	line, err := input.ReadBytes('\n')
	if err != nil {
		return SweepPost{}, fmt.Errorf("read the message of the node: %w", err)
	}
	var post SweepPost
	return post, json.Unmarshal(line, &post)
}

// tick is the length of the intervals in which items are counted.
const tick = 10 * time.Millisecond

// begun is the number of items that a node began in a tick. Ticks are numbered since 1970.
type begun struct {
	Tick  int64 `json:"tick"`
	Items int64 `json:"items"`
}

// tickOf returns the number of the tick that contains a time.
func tickOf(at time.Time) int64 { return at.UnixNano() / int64(tick) }

// tickCounts counts items by tick, for many goroutines at once. It covers only the last
// ticks.
type tickCounts [1024]atomic.Int64

func (c *tickCounts) add(at time.Time) { c[tickOf(at)%int64(len(c))].Add(1) }

func (c *tickCounts) take(tick int64) int64 { return c[tick%int64(len(c))].Swap(0) }

// ServeSweep runs a node that handles items until its input ends, and then leaves. It
// reports the number of items begun in each tick, so that little is lost when it is killed.
func ServeSweep(ctx context.Context, store driver.Store, post SweepPost, input io.Reader, output io.Writer) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	var counts tickCounts
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	mux := fairlead.NewMux()
	items.Handle(mux, store, post.Kind, items.Options{Logger: log}, func(context.Context, items.Item[json.RawMessage]) error {
		counts.add(time.Now())
		return nil
	})
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, store, mux, engine.Options{
			Name: post.Name, Slots: post.Slots, Queues: []engine.Queue{{Name: post.Queue}}, Lease: post.Lease, Beat: post.Lease / 5, Retention: keepAll(), Logger: log,
		})
	}()
	go func() {
		_, _ = io.Copy(io.Discard, input) // the work ends with the input, even after an error
		leave()
	}()
	lines := json.NewEncoder(output)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	next := tickOf(time.Now())
	tell := func(until int64) (err error) {
		for ; next < until; next++ {
			if items := counts.take(next); items > 0 {
				err = errors.Join(err, lines.Encode(begun{next, items}))
			}
		}
		return err
	}
	for {
		select {
		case now := <-ticker.C:
			if err := tell(tickOf(now) - 1); err != nil {
				leave()
				return errors.Join(err, <-ended)
			}
		case err := <-ended:
			return errors.Join(err, tell(tickOf(time.Now())+1))
		}
	}
}

// sweepNode is such a process, as seen by the process that started it.
type sweepNode struct {
	cmd   *exec.Cmd
	input io.Closer
	read  chan error
}

// startSweepNode starts a node whose counts are added to l.
func startSweepNode(ctx context.Context, command []string, post SweepPost, l *itemsByTick) (*sweepNode, error) {
	// The node ends at the end of its input, so that it drains.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	n := &sweepNode{cmd: cmd, input: input, read: make(chan error, 1)}
	go func() { n.read <- l.follow(output) }()
	return n, json.NewEncoder(input).Encode(post)
}

// leave shuts the node down normally.
func (n *sweepNode) leave() error {
	return errors.Join(n.input.Close(), <-n.read, n.cmd.Wait())
}

// kill ends the node like a crash.
func (n *sweepNode) kill() error {
	err := n.cmd.Process.Kill()
	<-n.read // the last line may be incomplete
	_ = n.cmd.Wait()
	return err
}

// itemsByTick contains the number of items begun in each tick, on all nodes.
type itemsByTick struct {
	mu    sync.Mutex
	ticks map[int64]int64
	first int64 // first tick with an item; zero = none yet
	total int64
}

func newItemsByTick() *itemsByTick { return &itemsByTick{ticks: map[int64]int64{}} }

// follow reads the reports of a node.
func (l *itemsByTick) follow(output io.Reader) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var b begun
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			return fmt.Errorf("a node said %q: %w", lines.Text(), err)
		}
		l.mu.Lock()
		l.ticks[b.Tick] += b.Items
		l.total += b.Items
		if l.first == 0 || b.Tick < l.first {
			l.first = b.Tick
		}
		l.mu.Unlock()
	}
	return lines.Err()
}

func (l *itemsByTick) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// beginning returns the tick in which the first item was begun.
func (l *itemsByTick) beginning() (tick int64, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, l.first != 0
}

// between returns the counts of a range of ticks.
func (l *itemsByTick) between(from, to int64) []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := make([]int64, max(0, to-from))
	for i := range counts {
		counts[i] = l.ticks[from+int64(i)]
	}
	return counts
}
