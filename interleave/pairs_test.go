package interleave_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/interleave"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

var only = flag.String("pairs", "", "play the pairs whose name contains this text, and no others")

// The pairs of the first tier: in each, one operation used to meet the other halfway.
var fixed = []string{
	"running: settle: succeed × reap",
	"running: cancel × settle: again at once",
	"running with a key: settle: fail × a caller keeps a duplicate and commits",
	"ready at a cap: claim × claim all",
	"orphaned: settle: succeed × reap",
	"waiting: answer: success × expire",
	"failed: retry × prune",
	"failed: retry × delete as seen",
	"a schedule with a failed run that retries: delete × tick",
}

func TestPairsOnPostgres(t *testing.T) { play(t, "postgres", testdb.Postgres) }
func TestPairsOnMySQL(t *testing.T)    { play(t, "mysql", testdb.MySQL) }
func TestPairsOnSQLite(t *testing.T) {
	play(t, "sqlite", func(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") })
}

// play plays pairs in every order with at most two switches.
func play(t *testing.T, database string, create func(testing.TB) string) {
	t.Parallel()
	chosen := choose(t)
	stage, err := interleave.NewStage(t.Context(), database, create(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stage.Close(); err != nil {
			t.Error(err)
		}
	}()
	orders, blocked, grouped := 0, 0, 0
	for _, pair := range chosen {
		outcome, err := stage.Explore(t.Context(), pair, 2)
		if err != nil {
			t.Fatalf("%v: %v", pair, err)
		}
		orders += outcome.Orders
		blocked += outcome.Blocked
		grouped += outcome.Grouped
		for _, f := range outcome.Findings {
			t.Errorf("a result that no serial order has: %v\nreplay it with make prove ARGS='-database %s -match %q -order %q'", f, database, pair, f.Order)
		}
	}
	t.Logf("%d pairs, %d orders; in %d of them one actor waited for a lock of the other, in %d they shared a transaction", len(chosen), orders, blocked, grouped)
}

// choose returns the pairs to play: the fixed ones in the first tier; in the second one also a
// part that the commit selects, so that different commits play different pairs.
func choose(t *testing.T) (chosen []interleave.Pair) {
	const parts = 150
	size := tier.Size(t, 0, 1, "the pairs that the commit selects")
	part := uint32(0)
	if size > 0 {
		part = selection(t) % parts
	}
	for i, pair := range interleave.Pairs() {
		switch name := pair.String(); {
		case *only != "":
			if strings.Contains(name, *only) {
				chosen = append(chosen, pair)
			}
		case size > 0 && uint32(i)%parts == part:
			chosen = append(chosen, pair)
		}
	}
	if *only != "" {
		return chosen
	}
	for _, name := range fixed {
		pair, err := interleave.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		chosen = append(chosen, pair)
	}
	return chosen
}

// selection returns a number that the commit determines, or the variable
// FAIRLEAD_INTERLEAVE_PART.
func selection(t *testing.T) uint32 {
	by := os.Getenv("FAIRLEAD_INTERLEAVE_PART")
	if by == "" {
		commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
		if err != nil {
			t.Logf("without a commit, the first part is played: %v", err)
			return 0
		}
		by = strings.TrimSpace(string(commit))
	}
	t.Attr(tier.SeedAttr, "FAIRLEAD_INTERLEAVE_PART="+by)
	sum := fnv.New32a()
	fmt.Fprint(sum, by)
	return sum.Sum32()
}

func TestAnOrderIsReadAsItIsWritten(t *testing.T) {
	for _, text := range []string{"A* B*", "A+ B+", "A2 B* A*", "B1 A3 B* A*", "A2† B*", "A2‡ B*"} {
		order, err := interleave.ParseOrder(text)
		if err != nil || order.String() != text {
			t.Errorf("%q is read as %v, %v", text, order, err)
		}
	}
	for _, text := range []string{"", "C1", "A", "A-1", "Ax"} {
		if order, err := interleave.ParseOrder(text); err == nil {
			t.Errorf("%q is read as %v, want an error", text, order)
		}
	}
}
