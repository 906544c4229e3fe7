package interleave_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/interleave"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

var only = flag.String("pairs", "", "play only pairs whose name contains this text")

func TestPostgres(t *testing.T) { explore(t, "postgres", testdb.Postgres(t)) }
func TestMySQL(t *testing.T)    { explore(t, "mysql", testdb.MySQL(t)) }

func explore(t *testing.T, kind, url string) {
	stage, err := interleave.NewStage(t.Context(), kind, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stage.Close(); err != nil {
			t.Error(err)
		}
	}()
	orders, blocked, pairs, findings := 0, 0, 0, 0
	begin := time.Now()
	for _, pair := range interleave.Pairs() {
		if !strings.Contains(pair.String(), *only) {
			continue
		}
		outcome, err := stage.Explore(t.Context(), pair, 2)
		if err != nil {
			t.Fatal(err)
		}
		if pairs++; pairs%200 == 0 {
			fmt.Printf("%v %d pairs of %d, %d orders\n", time.Since(begin), pairs, len(interleave.Pairs()), orders)
		}
		orders += outcome.Orders
		blocked += outcome.Blocked
		for i, f := range outcome.Findings {
			findings++
			if i == 0 {
				t.Errorf("%v", f)
			}
		}
	}
	t.Logf("%d pairs, %d orders, %d blocked, %d findings, %v", pairs, orders, blocked, findings, time.Since(begin))
}

func TestCount(t *testing.T) {
	by := map[string]int{}
	for _, p := range interleave.Pairs() {
		by[p.Subject.Name]++
	}
	t.Log(len(interleave.Pairs()), by)
}
