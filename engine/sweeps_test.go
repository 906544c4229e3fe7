package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep"
)

// shardsOf counts the running shards of each sweep, by node.
type shardsOf struct {
	mu      sync.Mutex
	running map[fairlead.NodeID]map[int64]int
	started int // runs of shards, ever
}

func (s *shardsOf) work(ctx context.Context, job *fairlead.Job) error {
	var args sweep.ShardArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return fairlead.Fatal(err)
	}
	s.add(job.Node, args.Sweep, 1)
	defer s.add(job.Node, args.Sweep, -1)
	select {
	case <-fairlead.Leaving(ctx):
		return fairlead.Release()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shardsOf) add(node fairlead.NodeID, sweep int64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started += max(0, n)
	if s.running[node] == nil {
		s.running[node] = map[int64]int{}
	}
	if s.running[node][sweep] += n; s.running[node][sweep] == 0 {
		delete(s.running[node], sweep)
	}
}

// sweeps is of how many sweeps each node runs shards, and how many shards run.
func (s *shardsOf) sweeps() (perNode []int, shards int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sweeps := range s.running {
		if len(sweeps) > 0 {
			perNode = append(perNode, len(sweeps))
		}
		for _, n := range sweeps {
			shards += n
		}
	}
	return perNode, shards
}

// begun is how many runs of shards have begun, ever.
func (s *shardsOf) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// perNode is how many shards each node runs that runs any, the most first.
func (s *shardsOf) perNode() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var perNode []int
	for _, sweeps := range s.running {
		total := 0
		for _, n := range sweeps {
			total += n
		}
		if total > 0 {
			perNode = append(perNode, total)
		}
	}
	slices.SortFunc(perNode, func(a, b int) int { return b - a })
	return perNode
}

// startSweeps starts sweeps of two shards each.
func (w *world) startSweeps(n int) {
	w.t.Helper()
	for i := range n {
		w.startSweep(fmt.Sprintf("s%d", i), 2)
	}
}

func (w *world) startSweep(name string, shards int) {
	w.t.Helper()
	made, err := w.sweeps.Put(w.t.Context(), sweep.Sweep{Name: name, Kind: "k", To: 100, Shards: shards})
	if err == nil {
		_, err = w.sweeps.Start(w.t.Context(), made.ID, "me")
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestSweepsAreSpreadOverTheNodes(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		stopFirst, stopSecond := w.start(engine.Options{}), w.start(engine.Options{})
		pass(5 * time.Second)
		w.startSweeps(6)
		pass(20 * time.Second)
		perNode, running := shards.sweeps()
		if len(perNode) != 2 || perNode[0] > 3 || perNode[1] > 3 || running != 12 {
			t.Errorf("%d shards run, of so many sweeps on each node: %v", running, perNode)
		}
		// The node that is left takes over, as far as it may.
		if err := stopFirst(); err != nil {
			t.Error(err)
		}
		pass(20 * time.Second)
		if perNode, running = shards.sweeps(); len(perNode) != 1 || perNode[0] != 5 || running != 10 {
			t.Errorf("after one has gone %d shards run, of so many sweeps on each node: %v", running, perNode)
		}
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
	})
}

func TestADrainedNodeGivesBackItsShardsUntilItIsUndone(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		node, stop := w.startEngine(engine.Options{})
		w.startSweep("one", 3)
		pass(5 * time.Second)
		want := func(when string, want ...int) {
			t.Helper()
			if got := shards.perNode(); !slices.Equal(got, want) {
				t.Errorf("%s it runs %v shards, want %v", when, got, want)
			}
		}
		want("before", 3)
		w.drain(node, true)
		want("while it drains")
		w.drain(node, false)
		pass(10 * time.Second)
		want("when it is undone", 3)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestNodesThatJoinGetShards(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		var stops []func() error
		defer func() {
			for _, stop := range stops {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}
		}()
		expect := func(what string, moves int, want ...int) {
			t.Helper()
			before := shards.begun()
			pass(15 * time.Second)
			if got := shards.perNode(); !slices.Equal(got, want) || shards.begun()-before > moves {
				t.Errorf("%s: the nodes have %v shards after %d were begun, want %v and at most %d", what, got, shards.begun()-before, want, moves)
			}
			before = shards.begun()
			pass(20 * time.Second)
			if shards.begun() != before {
				t.Errorf("%s: it does not settle, %d more were begun", what, shards.begun()-before)
			}
		}
		stops = append(stops, w.start(engine.Options{}))
		w.startSweep("one", 7)
		expect("one node is there", 7, 7)
		stops = append(stops, w.start(engine.Options{}))
		expect("another joins", 3, 4, 3)
		stops = append(stops, w.start(engine.Options{}))
		expect("a third joins", 3, 3, 2, 2)
		if err := stops[0](); err != nil {
			t.Error(err)
		}
		stops = stops[1:]
		expect("one leaves", 4, 4, 3)
		stops = append(stops, w.start(engine.Options{Slots: 1}))
		// Until it has said that it is full, the others may offer it more.
		expect("a small one joins", 4, 3, 3, 1)
	})
}

func TestASweepThatBeginsIsSpreadAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		for range 3 {
			stop := w.start(engine.Options{Poll: time.Minute}) // nothing but the shards wakes them
			defer func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}()
		}
		pass(90 * time.Second) // they have seen each other, and do not look again soon
		w.startSweep("one", 9)
		pass(3 * time.Second)
		if got := shards.perNode(); !slices.Equal(got, []int{3, 3, 3}) || shards.begun() != 9 {
			t.Errorf("the nodes have %v shards after %d were begun", got, shards.begun())
		}
	})
}
