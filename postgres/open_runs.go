package postgres

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	roundsWindow = 10_000                 // open runs that a tick looks at for such that have ended
	roundsRest   = 100 * time.Millisecond // between two looks if there are more than that
)

// rounds holds the position at which the next look at open runs continues. A job that ends
// does not report that to its schedule, because its own settlement would take longer. One
// look usually reaches all open runs.
type rounds struct {
	window int // zero: roundsWindow

	mu       sync.Mutex
	schedule int64
	job      int64
	rest     time.Time // until then the store does not look
}

// glance is one look at open runs.
type glance struct {
	limit    int
	window   int
	schedule int64 // where it begins, then where it has come to
	job      int64
	ended    []int64 // schedules with runs that have ended, in order
	found    int     // such runs
	more     bool    // the window ended before the runs did
}

// most returns the maximum number of runs that a look finds: enough for all schedules that may be taken,
// unless very many runs of each have ended.
func (g *glance) most() int { return 4*g.limit + 100 }

// saw notes a row of the look.
func (g *glance) saw(row sqlstore.Scanner) error {
	ended := false
	err := row.Scan(&g.schedule, &g.job, &ended, &g.more)
	if ended {
		g.found++
	}
	if ended && (len(g.ended) == 0 || g.ended[len(g.ended)-1] != g.schedule) {
		g.ended = append(g.ended, g.schedule)
	}
	return err
}

// LookAtOpenRuns implements sqlstore.Scheduling.
func (d database) LookAtOpenRuns(db sqlstore.DB, limit int) func(ctx context.Context) ([]int64, error) {
	look := d.rounds.begin(limit)
	if look == nil {
		return func(context.Context) ([]int64, error) { return nil, nil }
	}
	db.QueueEach(look.saw, d.sql.LookAtOpen, look.schedule, look.job, look.window, look.most())
	return func(context.Context) ([]int64, error) { return d.rounds.end(look), nil }
}

// begin is the next look, nil while there is none.
func (r *rounds) begin(limit int) *glance {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.rest) {
		return nil
	}
	look := &glance{limit: limit, window: roundsWindow, schedule: r.schedule, job: r.job}
	if r.window > 0 {
		look.window = r.window
	}
	return look
}

// end notes where the next look begins, and returns what this one has found.
func (r *rounds) end(g *glance) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(g.ended) > g.limit: // behind the last that may be taken
		g.ended = g.ended[:g.limit+1]
		r.schedule, r.job = g.ended[max(g.limit-1, 0)], math.MaxInt64
	case g.found == g.most():
		r.schedule, r.job = g.schedule, g.job
	case g.more:
		r.schedule, r.job, r.rest = g.schedule, g.job, time.Now().Add(roundsRest)
	default:
		r.schedule, r.job = 0, 0
	}
	return g.ended
}

// reset begins looking anew.
func (r *rounds) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schedule, r.job, r.rest = 0, 0, time.Time{}
}
