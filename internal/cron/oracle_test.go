package cron_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/cronexpr"
	robfig "github.com/robfig/cron/v3"

	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// randomInstant returns an instant in the years 2000 to 2059.
func randomInstant(draw lot) time.Time {
	return time.Date(2000+draw(60), 1, 1, 0, 0, draw(366*86400), draw(2)*draw(1e9), time.UTC)
}

// TestRobfigAgrees compares the results with robfig/cron in UTC, which has no clock
// changes. It omits features unknown to robfig/cron (7, L, W and #). robfig/cron gives up
// after five years instead of eight, and accepts expressions that never fire.
func TestRobfigAgrees(t *testing.T) {
	t.Parallel()
	reader := robfig.NewParser(robfig.Second | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow)
	random := rand.New(rand.NewPCG(1, 2))
	compared, refused := 0, 0
	effort := tier.Size(t, 1, effort, "compares very many expressions")
	for range effort * 10_000 {
		text, after := randomExpr(random.IntN, false), randomInstant(random.IntN)
		oracle, err := reader.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := oracle.Next(after)
		e, err := cron.Parse(text)
		if err != nil {
			refused++
			if !want.IsZero() {
				t.Fatalf("%q fires at %v: %v", text, want, err)
			}
			continue
		}
		got := e.Next(after, time.UTC)
		if want.IsZero() && got.After(after.AddDate(5, 0, 0)) {
			continue
		}
		if compared++; !got.Equal(want) {
			t.Fatalf("%q after %v: %v, want %v", text, after, got, want)
		}
	}
	if compared < effort*9_500 || refused == 0 {
		t.Errorf("%d were compared, %d refused", compared, refused)
	}
}

// TestCronexprAgrees compares L, W and # with hashicorp/cronexpr in UTC. Left out
// are L-n, which it does not know, and ranges of weekdays: it takes 0-0 for all of
// them and forgets the Sunday of 5-7.
func TestCronexprAgrees(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	compared := 0
	effort := tier.Size(t, 2, effort, "compares very many expressions")
	for range effort * 1_000 {
		text, after := randomExpr(random.IntN, true), randomInstant(random.IntN)
		e, err := cron.Parse(text)
		if err != nil || strings.Contains(text, "L-") || strings.Contains(strings.Fields(text)[5], "-") {
			continue
		}
		oracle, err := cronexpr.Parse(text + " *") // any year
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got, want := e.Next(after, time.UTC), oracle.Next(after)
		if compared++; !got.Equal(want) {
			t.Fatalf("%q after %v: %v, want %v", text, after, got, want)
		}
	}
	if compared < effort*700 {
		t.Errorf("only %d were compared", compared)
	}
}
