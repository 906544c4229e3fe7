package sqlite

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestEmptyLanesCostAnIdleNodeNothing(t *testing.T) {
	storetest.EmptyLanesCostNothing(t, readsOfIdleNode)
}

// readsOfIdleNode is how many pages were looked at in some rounds of a node that has
// been idle for long.
func readsOfIdleNode(t *testing.T, lanes int, limit *fairlead.Limit) int64 {
	t.Helper()
	s, err := Open(t.Context(), memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ask := storetest.IdleNode(t, s, limit)
	_, err = s.main.ExecContext(t.Context(), fmt.Sprintf(`with recursive n (i) as (select 1 union all select i + 1 from n where i < %d)
		insert into fairlead_lane (queue, tenant, kind) select 'default', 't' || i, 'a' from n`, lanes))
	if err != nil {
		t.Fatal(err)
	}
	ask(3) // it learns which lanes there are
	before := pagesReadBy(t, s)
	ask(storetest.IdleRounds)
	return pagesReadBy(t, s) - before
}

// pagesReadBy is how often the only connection has looked at a page.
func pagesReadBy(t *testing.T, s *Store) int64 {
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
	return pages
}
