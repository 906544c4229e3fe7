package postgres

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
)

var pagesRead = regexp.MustCompile(`Buffers: shared hit=(\d+)`)

// An old transaction keeps the index entries of jobs that have left.
func TestALookDoesNotStepOverWhatLeftALaneInWhichJobsWait(t *testing.T) {
	const jobs, most = 10_000, 20
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	batch := make([]*fairlead.Job, jobs)
	for i := range batch {
		batch[i] = newJob(t)
	}
	if err := store.Enqueue(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	old, err := connect(t, at).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec(t.Context(), "select count(*) from fairlead_ready"); err != nil {
		t.Fatal(err)
	}
	exec(t, at, "delete from fairlead_ready where id < (select max(id) from fairlead_ready)")

	tx, err := connect(t, at).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), store.pin()); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "explain (analyze, buffers) "+store.sql.ReadyLanes, pgx.QueryExecModeExec, int32(0), 10)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if m := pagesRead.FindStringSubmatch(line); m != nil { // the first is that of the whole
			if pages, err := strconv.Atoi(m[1]); err != nil || pages > most {
				t.Errorf("it reads %s pages, %v: %q", m[1], err, lines)
			}
			return
		}
	}
	t.Errorf("it does not say what it read: %q", lines)
}
