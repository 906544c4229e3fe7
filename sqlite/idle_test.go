package sqlite

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/storetest"
)

// idleRounds is how often the counted node asks for everything.
const idleRounds = 3

func TestEmptyLanesCostAnIdleNodeNothing(t *testing.T) {
	for name, limit := range map[string]*fairlead.Limit{
		"without limits":       nil,
		"under a global limit": {Scope: fairlead.LimitGlobal, MaxRunning: 100},
	} {
		t.Run(name, func(t *testing.T) {
			few := readsOfIdleNode(t, 20, limit)
			many := readsOfIdleNode(t, 20000, limit)
			if many > few+50 {
				t.Errorf("%d rounds of an idle node read %d pages with 20,000 empty lanes, and %d with 20", idleRounds, many, few)
			}
		})
	}
}

// readsOfIdleNode is how many pages were looked at in some rounds of a node that has
// been idle for long.
func readsOfIdleNode(t *testing.T, lanes int, limit *fairlead.Limit) int {
	t.Helper()
	s, err := Open(t.Context(), memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	scope := &fairlead.Scope{Kinds: []string{"a"}}
	node, err := s.Join(t.Context(), fairlead.Node{Name: "idle", Kinds: scope.Kinds, Slots: 32}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if limit != nil {
		if err := s.SetLimit(t.Context(), *limit); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.main.ExecContext(t.Context(), fmt.Sprintf(`with recursive n (i) as (select 1 union all select i + 1 from n where i < %d)
		insert into fairlead_lane (queue, tenant, kind) select 'default', 't' || i, 'a' from n`, lanes))
	if err != nil {
		t.Fatal(err)
	}
	rounds := func(n int) {
		for range n {
			if err := storetest.Idle(t.Context(), s, node, scope); err != nil {
				t.Fatal(err)
			}
		}
	}
	rounds(3) // it learns which lanes there are
	before := pagesReadBy(t, s)
	rounds(idleRounds)
	return pagesReadBy(t, s) - before
}

// pagesReadBy is how often the only connection has looked at a page.
func pagesReadBy(t *testing.T, s *Store) int {
	t.Helper()
	conn, err := s.main.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	pages, err := pagesRead(conn)
	if err != nil {
		t.Fatal(err)
	}
	return int(pages)
}
