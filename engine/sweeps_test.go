package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// shardsOf counts the running shards of each sweep, by node.
type shardsOf struct {
	mu      sync.Mutex
	running map[fairlead.NodeID]map[int64]int
}

func (s *shardsOf) work(ctx context.Context, job *fairlead.Job) error {
	var args fairlead.ShardArgs
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

// startSweeps starts sweeps of two shards each.
func (w *world) startSweeps(n int) {
	w.t.Helper()
	for i := range n {
		made, err := w.client.PutSweep(w.t.Context(), fairlead.Sweep{Name: fmt.Sprintf("s%d", i), Kind: "k", To: 100, Shards: 2})
		if err == nil {
			_, err = w.client.StartSweep(w.t.Context(), made.ID, "me")
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestSweepsAreSpreadOverTheNodes(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(fairlead.SweepKind("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		stopFirst, stopSecond := w.start(engine.Options{}), w.start(engine.Options{})
		pass(5 * time.Second)
		w.startSweeps(6)
		pass(time.Minute)
		perNode, running := shards.sweeps()
		if len(perNode) != 2 || perNode[0] > 3 || perNode[1] > 3 || running != 12 {
			t.Errorf("%d shards run, of so many sweeps on each node: %v", running, perNode)
		}
		// The node that is left takes over, as far as it may.
		if err := stopFirst(); err != nil {
			t.Error(err)
		}
		pass(time.Minute)
		if perNode, running = shards.sweeps(); len(perNode) != 1 || perNode[0] != 5 || running != 10 {
			t.Errorf("after one has gone %d shards run, of so many sweeps on each node: %v", running, perNode)
		}
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
	})
}
