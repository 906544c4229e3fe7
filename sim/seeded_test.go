package sim

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-io/fairlead/internal/tier"
)

var (
	seedCount = flag.Int("seeds", 0, "how many seeds TestSeeds plays; 0 = a few in the first tier, more in the second")
	oneSeed   = flag.Uint64("seed", 0, "the only seed that TestSeeds plays; 0 = as many as -seeds")
	seedTrace = flag.Bool("seedtrace", false, "print the trace of each seed")
)

// fewestCalls and fewestEvents are the least that a seed has to show to count.
const (
	fewestCalls  = 1000
	fewestEvents = 300
)

// TestSeeds plays many nodes in virtual time, with all capabilities at once and the faults
// that the seed draws. To replay a failed seed:
//
//	go test ./sim -run TestSeeds -seed=17
func TestSeeds(t *testing.T) {
	seeds := tier.Size(t, 3, 20, "plays more seeds")
	first := uint64(1)
	if *seedCount > 0 {
		seeds = *seedCount
	}
	if *oneSeed > 0 {
		first, seeds = *oneSeed, 1
	}
	sum := map[string]int{}
	calls, events := 0, 0
	for seed := first; seed < first+uint64(seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := playSeed(t, seed)
			calls, events = calls+w.trace.calls, events+len(w.events)
			for what, n := range w.counts.of {
				sum[what] += n
			}
		})
	}
	t.Logf("%d seeds: %d calls of the store, %d events of jobs and leases", seeds, calls, events)
	for _, what := range slices.Sorted(maps.Keys(sum)) {
		t.Logf("%8d %s", sum[what], what)
	}
	const enough = 50 // seeds, for each kind of fault and each capability to occur
	for _, what := range slices.Concat(faultKinds, capabilities) {
		if seeds >= enough && sum[what] == 0 {
			t.Errorf("no seed has this: %s", what)
		}
	}
}

// TestSeedReplaysExactly plays seeds again: all calls of the store, their order, times and
// outcomes are the same. A select statement with two channels that are ready takes one of them at
// random, which nothing can seed. So a few plays of a seed may differ, until one repeats another.
func TestSeedReplaysExactly(t *testing.T) {
	const first, plays = 101, 8
	for seed := range uint64(tier.Size(t, 1, 5, "plays more seeds twice")) {
		if seed += first; *oneSeed > 0 {
			seed = *oneSeed
		}
		last := playSeed(t, seed)
		seen := []string{last.trace.sum()}
		for {
			next := playSeed(t, seed)
			if slices.Contains(seen, next.trace.sum()) {
				break
			}
			difference := firstDifference(last.trace.all.String(), next.trace.all.String())
			if seen, last = append(seen, next.trace.sum()), next; len(seen) == plays {
				t.Errorf("none of %d plays of seed %d repeats another: %s", plays, seed, difference)
				break
			}
			t.Logf("seed %d is played again: %s", seed, difference)
		}
	}
}

func firstDifference(one, two string) string {
	a, b := strings.Split(one, "\n"), strings.Split(two, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("call %d of %d\n%s\nis\n%s\n%s", i, len(a), strings.Join(a[max(0, i-5):i], "\n"), a[i], b[i])
		}
	}
	return "one trace is longer"
}

// playSeed plays one seed. Goroutines take turns on one processor, and none is preempted by
// the collection of garbage, so that they run in the same order each time.
func playSeed(t *testing.T, seed uint64) (w *world) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, seed)
		w.trace.all = &strings.Builder{}
		w.play()
		if *seedTrace {
			t.Log(w.trace.all.String())
		}
		if w.trace.calls < fewestCalls || len(w.events) < fewestEvents {
			w.violated("the seed shows little: %d calls and %d events", w.trace.calls, len(w.events))
		}
		if len(w.violations) > 0 {
			t.Errorf("seed %d: %d violations:\n%s\nthe last calls:\n%sreplay: go test ./sim -run TestSeeds -seed=%d",
				seed, len(w.violations), strings.Join(w.violations, "\n"), w.trace.last(), seed)
		}
	})
	return w
}
