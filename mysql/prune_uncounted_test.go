package mysql

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// Tasks of a large open batch that it has not counted keep nothing behind them from being
// removed: each call looks at so many of them, and the next goes on there.
func TestPruningGoesOnBehindManyTasksThatAreNotCounted(t *testing.T) {
	t.Run("that ended one after the other", func(t *testing.T) { pruneBehind(t, "n + 1") })
	t.Run("that ended at one instant", func(t *testing.T) { pruneBehind(t, "1") })
}

// pruneBehind removes what is behind tasks that ended at the times that an expression
// gives.
func pruneBehind(t *testing.T, ended string) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	chunks := outdatedWalk*2/batch.ChunkSize + 1
	storeUncounted(t, s, chunks, ended)
	begun := time.Now()
	for call := 1; ; call++ {
		n, err := s.Prune(t.Context(), driver.Retention{Succeeded: time.Hour}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			t.Logf("call %d reached them after %v", call, time.Since(begun))
			break
		}
		if call == 10 {
			t.Fatalf("they are not reached")
		}
	}
	if n, err := s.Prune(t.Context(), driver.Retention{Succeeded: time.Hour}, 2); n != 1 || err != nil {
		t.Errorf("the next call removes %d, %v", n, err)
	}
}

// storeUncounted stores finished tasks that an open batch has not counted, in chunks, and
// three succeeded jobs with larger ids. They end at the times that an expression gives.
func storeUncounted(t *testing.T, s *Store, chunks int, ended string) {
	t.Helper()
	const digits = "(select 0 n union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9)"
	numbers := fmt.Sprintf("(select a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n as n from %[1]s a, %[1]s b, %[1]s c, %[1]s d, %[1]s e) v", digits)
	tasks := chunks * batch.ChunkSize
	for _, statement := range []string{
		"insert into fairlead_batch (id, name, type, queue, tenant, created_at, opened, open, ended_at, state, status, body) values (1, 'b', 't', 'q', 't', 1, 1, 1, 0, 'running', '{}', '{}')",
		fmt.Sprintf("insert into fairlead_part (batch, number, pass, kind, first_job, size, held, out_, marks) select 1, n + 1, 1, 'forward', n * %[1]d + 1, %[1]d, 0, %[1]d, '{\"s\":\"%[2]s\"}' from %[3]s where n < %[4]d",
			batch.ChunkSize, strings.Repeat("o", batch.ChunkSize), numbers, chunks),
		"insert into fairlead_lane (queue, tenant, kind) values ('default', 'default', 'test')",
		fmt.Sprintf("insert into fairlead_done (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at) select n + 1, 1, 1, 1, 1, 1, 0, 0, 1, %s from %s where n < %d", ended, numbers, tasks+3),
		fmt.Sprintf("insert into fairlead_job (id, lane, turn, start_by, not_before, created_at, flags) select n + 1, 1, 0, 0, 0, 1, 0 from %s where n >= %d and n < %d", numbers, tasks, tasks+3),
	} {
		if _, err := s.db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatalf("%.80s: %v", statement, err)
		}
	}
}
