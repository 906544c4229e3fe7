package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/storetest"
)

// idleName is that of the sessions of the counted node.
const idleName = "idle node"

func TestEmptyLanesCostAnIdleNodeNothing(t *testing.T) {
	storetest.EmptyLanesCostNothing(t, readsOfIdleNode)
}

// readsOfIdleNode is how many index scans were begun, and how many rows and index
// entries were read, in some rounds of an idle node. The
// server's sessions add up their counts when they end.
func readsOfIdleNode(t *testing.T, lanes int, limit *fairlead.Limit) int64 {
	t.Helper()
	at := migrated.Postgres(t)
	url := withParams(t, at, "application_name", idleName)
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s.laneHeads.survey.dear = time.Hour // however busy the machine is
	ask := storetest.IdleNode(t, s, limit)
	exec(t, at, fmt.Sprintf(`insert into fairlead_lane (queue, tenant, kind) select 'default', 't' || n, 'a' from generate_series(1, %d) n`, lanes))
	exec(t, at, `vacuum analyze fairlead_lane`)
	rounds := func(n int) {
		for range n {
			s.letTimePass()
			ask(1)
		}
	}
	rounds(1) // it learns which lanes there are
	s.pool.Reset()
	s.beats.Reset()
	before := readsSoFar(t, at)
	rounds(storetest.IdleRounds)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return readsSoFar(t, at) - before
}

// letTimePass makes all that is remembered for a while too old.
func (s *Store) letTimePass() {
	s.lanes.mu.Lock()
	s.lanes.readAt = time.Time{}
	s.lanes.mu.Unlock()
	s.laneHeads.mu.Lock()
	defer s.laneHeads.mu.Unlock()
	for i := range s.laneHeads.lanes {
		s.laneHeads.lanes[i].readAt = time.Time{}
	}
}

// readsSoFar is what the sessions that have ended have read of the store's tables.
func readsSoFar(t *testing.T, at string) (reads int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	conn := connect(t, at)
	defer func() { _ = conn.Close(ctx) }()
	for others := 1; others > 0; {
		err := conn.QueryRow(ctx, `select count(*) from pg_stat_activity where datname = current_database() and application_name = $1`, idleName).Scan(&others)
		if err != nil {
			t.Fatal(err)
		}
	}
	err := conn.QueryRow(ctx, `select
		(select coalesce(sum(idx_scan + idx_tup_read), 0) from pg_stat_user_indexes) +
		(select coalesce(sum(seq_scan + seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) from pg_stat_user_tables)`).Scan(&reads)
	if err != nil {
		t.Fatal(err)
	}
	return reads
}
