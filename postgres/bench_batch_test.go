package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// Figures per task, as in bench_test.go. To compare with BenchmarkSustained, which
// stores and runs as many plain jobs. Run with -benchtime=1000000x.

func BenchmarkBatchCreate(b *testing.B) {
	bench := newBatchBench(b)
	bench.measure(func() { bench.create() })
}

func BenchmarkBatchRun(b *testing.B) {
	bench := newBatchBench(b)
	batch := bench.create()
	bench.measure(func() { bench.conduct(batch.ID) })
	b.ReportMetric(float64(b.N)/float64(bench.looks), "tasks/look")
	b.ReportMetric(float64(bench.looking.Microseconds())/1e3/float64(bench.looks), "ms/look")
}

type batchBench struct {
	*bench
	looks   int
	looking time.Duration
}

func newBatchBench(b *testing.B) *batchBench {
	b.Helper()
	bench := &batchBench{bench: newBench(b)}
	bench.scope = &driver.Scope{Kinds: []string{batch.TaskKind("box", "move")}}
	var err error
	if bench.node, err = bench.store.Join(b.Context(), fairlead.Node{Name: "mover", Kinds: bench.scope.Kinds}, time.Hour); err != nil {
		b.Fatal(err)
	}
	return bench
}

func (b *batchBench) create() batch.Batch {
	begun, err := batch.NewClient(b.store).Begin(b.Context(), batch.Batch{Name: "bench", Type: "move"})
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N {
		if err := begun.Add(b.Context(), batch.Change{Target: batch.Target{ID: fmt.Sprint("box-", i), Type: "box"}}); err != nil {
			b.Fatal(err)
		}
	}
	batch, err := begun.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return batch
}

// conduct runs all tasks of a batch, and looks at it as a node does.
func (b *batchBench) conduct(id int64) {
	const rest = 20 * time.Millisecond // between two looks
	looked := make(chan struct{}, 1)
	var group sync.WaitGroup
	group.Go(func() {
		defer close(looked)
		for b.look(id) {
			select {
			case looked <- struct{}{}:
			default:
			}
			time.Sleep(rest)
		}
	})
	for range looked { // there may be more now
		b.drain(500)
	}
	group.Wait()
}

// look looks at the batch once, and reports whether it goes on.
func (b *batchBench) look(id int64) bool {
	begun := time.Now()
	conducted, err := batch.Conduct(b.Context(), b.store, id)
	if err != nil {
		b.Error(err)
		return false
	}
	b.looks++
	b.looking += time.Since(begun)
	return !conducted.Ended
}
