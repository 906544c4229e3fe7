package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
)

// mostInHistory limits the number of holds from which a history is derived. If there are
// more, the latest are used.
const mostInHistory = 2000

// historyStore reports what kept jobs waiting.
type historyStore struct {
	db  Database
	of  historySource
	sql *HoldStatements
}

// historySource is the part of a store that historyStore uses in addition to its
// statements.
type historySource interface {
	Get(ctx context.Context, id int64) (*fairlead.Job, error)
	Attempts(ctx context.Context, id int64) ([]fairlead.Attempt, error)
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	LimitConfig(ctx context.Context) (*LimitConfig, error)
	HoldLook(ctx context.Context) (hold.LookState, error)
}

// Holds lists the holds that match a filter.
func (s *historyStore) Holds(ctx context.Context, filter hold.Filter) (hold.Page, error) {
	standing, err := s.of.HoldLook(ctx)
	if err != nil {
		return hold.Page{}, err
	}
	parent := ""
	if filter.Tenant != "" {
		config, err := s.of.LimitConfig(ctx)
		if err != nil {
			return hold.Page{}, fmt.Errorf("list holds: %w", err)
		}
		parent = config.parents[filter.Tenant]
	}
	limit := filter.Limit
	filter.Limit++ // one more shows whether there is a next page
	holds, err := s.list(ctx, filter, parent, "")
	if err != nil {
		return hold.Page{}, err
	}
	standing.EndUnseen(holds)
	page := hold.Page{Holds: holds, At: standing.Now, Since: standing.Since}
	if len(holds) > limit {
		page.Holds, page.Next = holds[:limit], holds[limit-1].ID
	}
	return page, nil
}

func (s *historyStore) list(ctx context.Context, filter hold.Filter, parent, gate string) ([]hold.Hold, error) {
	below, to := filter.Below, int64(math.MaxInt64)
	if below == 0 {
		below = math.MaxInt64
	}
	if !filter.To.IsZero() {
		to = Micros(filter.To)
	}
	return readList(ctx, s.db.ReadAll, "list holds", scanHold, s.sql.Holds,
		below, Micros(filter.From), to, filter.Queue, filter.Tenant, parent, filter.Kind, gate, filter.Limit)
}

// History derives what a job waited for.
func (s *historyStore) History(ctx context.Context, id int64) (hold.History, error) {
	past, err := s.past(ctx, id)
	if err != nil {
		return hold.History{}, err
	}
	return hold.Derive(past), nil
}

// past reads the data from which a history is derived. Each part is read at its own time.
// The job comes last, so that no hold that ended before is missed.
func (s *historyStore) past(ctx context.Context, id int64) (past hold.Past, err error) {
	if past.LookState, err = s.of.HoldLook(ctx); err != nil {
		return past, err
	}
	if past.Job, err = s.of.Get(ctx, id); err != nil {
		return past, err
	}
	if past.Attempts, err = s.of.Attempts(ctx, id); err != nil {
		return past, err
	}
	if past.Nodes, err = s.of.Nodes(ctx); err != nil {
		return past, err
	}
	config, err := s.of.LimitConfig(ctx)
	if err != nil {
		return past, fmt.Errorf("history: %w", err)
	}
	lane := KeyOf(past.Job)
	from, until := past.Waited()
	if from.IsZero() {
		return past, nil
	}
	past.Holds, err = s.list(ctx, hold.Filter{
		Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind, From: from, To: until, Limit: mostInHistory,
	}, config.parents[lane.Tenant], past.Job.ConcurrencyKey)
	if len(past.Holds) == mostInHistory {
		past.LookState.Since = latest(past.LookState.Since, past.Holds[mostInHistory-1].From)
	}
	past.Holds = slices.DeleteFunc(past.Holds, func(h hold.Hold) bool { return h.Gate != "" && h.Gate != past.Job.ConcurrencyKey })
	return past, err
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
