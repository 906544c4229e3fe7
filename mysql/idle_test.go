package mysql

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestEmptyLanesCostAnIdleNodeNothing(t *testing.T) {
	storetest.EmptyLanesCostNothing(t, readsOfIdleNode)
}

// readsOfIdleNode is how many rows and index entries were looked for and read in some
// rounds of a node that has been idle for long.
func readsOfIdleNode(t *testing.T, lanes int, limit *fairlead.Limit) int64 {
	t.Helper()
	s, err := OpenWith(t.Context(), Migrated.MySQL(t), Options{MaxConns: 1}) // sessions count for themselves
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.lifeline.SetMaxOpenConns(1)
	for _, pool := range []*sql.DB{s.db, s.lifeline} {
		pool.SetConnMaxIdleTime(0)
	}
	ask := storetest.IdleNode(t, s, limit)
	var names tuples
	for i := range lanes {
		names.add().str("default").str(fmt.Sprint("t", i)).str("a").end()
	}
	for list := range names.chunks() {
		if _, err := s.db.ExecContext(t.Context(), fill(s.sql.AddLanes, "rows", list)); err != nil {
			t.Fatal(err)
		}
	}
	rounds := func(n int) {
		for range n {
			s.letTimePass()
			ask(1)
		}
	}
	rounds(1) // it learns which lanes there are
	before := readsSoFar(t, s.db, s.lifeline)
	rounds(storetest.IdleRounds)
	return readsSoFar(t, s.db, s.lifeline) - before
}

// letTimePass makes all that is remembered for a while too old.
func (s *Store) letTimePass() {
	s.refreshed.Store(0)
	s.laneHeads.mu.Lock()
	defer s.laneHeads.mu.Unlock()
	for i := range s.laneHeads.lanes {
		s.laneHeads.lanes[i].readAt = time.Time{}
	}
}

// readsSoFar is what the only session of each pool has read.
func readsSoFar(t *testing.T, pools ...*sql.DB) (reads int64) {
	t.Helper()
	for _, pool := range pools {
		err := each(t.Context(), pool, func(row *sql.Rows) error {
			var name string
			var n int64
			err := row.Scan(&name, &n)
			reads += n
			return err
		}, "show session status where variable_name like 'Handler_read%' and variable_name not in ('Handler_read_rnd_deleted')")
		if err != nil {
			t.Fatal(err)
		}
	}
	return reads
}
