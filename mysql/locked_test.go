package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/schedule"
)

// lockTest is a store, and a transaction of another process that stops halfway: it has
// locked some rows and not others.
type lockTest struct {
	*testing.T
	address string
	store   *mysql.Store
	db      *sql.DB
	halfway *sql.Tx
}

func newLockTest(t *testing.T) *lockTest {
	address := mysql.Migrated.MySQL(t)
	return &lockTest{T: t, address: address, store: openStore(t, address, mysql.Options{}), db: rawDB(t, address, nil)}
}

func (l *lockTest) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// begin runs the statements of the transaction that stops then.
func (l *lockTest) begin(statements ...string) {
	l.Helper()
	tx, err := l.db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // as the store's own
	l.ok(err)
	l.Cleanup(func() { _ = tx.Rollback() })
	for _, statement := range statements {
		mustExecTx(l, tx, statement)
	}
	l.halfway = tx
}

// passesOver expects a call not to wait for the transaction, which ends then.
func (l *lockTest) passesOver(what string, call func(ctx context.Context) error) {
	l.Helper()
	unhindered(l.T, l.address, what, call)
	l.ok(l.halfway.Rollback())
}

// waits expects a call to wait for the transaction, commits that, and returns what the
// call does.
func (l *lockTest) waits(call func(ctx context.Context) error) error {
	l.Helper()
	done := make(chan error, 1)
	go func() { done <- call(context.Background()) }()
	awaitLockWait(l, l.address, done)
	l.ok(l.halfway.Commit())
	return <-done
}

func (l *lockTest) wantRows(table string, want int) {
	l.Helper()
	var n int
	l.ok(l.db.QueryRowContext(l.Context(), "select count(*) from "+table).Scan(&n))
	if n != want {
		l.Fatalf("%s has %d rows, want %d", table, n, want)
	}
}

func (l *lockTest) wantState(job *fairlead.Job, want fairlead.State) {
	l.Helper()
	wantStates(l.T, l.store, want, job)
}

// newBatch makes a batch without chunks.
func (l *lockTest) newBatch() batch.Batch {
	l.Helper()
	b := batch.Batch{Name: "b", Type: "t"}
	l.ok(batch.Normalize(&b))
	b, err := l.store.CreateBatch(l.Context(), b)
	l.ok(err)
	return b
}

// Promote and the gates lock a job in its place alone, a verb that has just begun the job
// alone, and a claim that passes it over its place.
func TestRecallPassesOverAJobThatIsLockedInOneOfItsPlaces(t *testing.T) {
	for name, test := range map[string]struct {
		table string
		job   fairlead.Job
	}{
		"the job itself": {"job", fairlead.Job{Kind: "a"}},
		"scheduled":      {"later", fairlead.Job{Kind: "a", NotBefore: time.Now().Add(time.Hour)}},
		"ready":          {"ready", fairlead.Job{Kind: "a"}},
		"parked":         {"parked", fairlead.Job{Kind: "a", ConcurrencyKey: "g"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLockTest(t)
			if test.table == "parked" {
				enqueue(t, l.store, &fairlead.Job{Kind: "b", ConcurrencyKey: "g"})
				enqueue(t, l.store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
			}
			job := test.job
			enqueue(t, l.store, &job)
			b, table := l.newBatch(), "fairlead_"+test.table
			var recalled []int64
			recall := func(ctx context.Context) error {
				_, err := l.store.Conduct(ctx, b.ID, true, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
					recalled, err = tx.Recall(ctx, job.ID, job.ID)
					return err
				})
				return err
			}
			l.begin("select * from " + table + " where id = (select max(id) from fairlead_job) for update")
			l.passesOver("recall", recall)
			if len(recalled) != 0 {
				t.Fatal("a job was recalled that is locked")
			}
			l.ok(recall(t.Context()))
			if len(recalled) != 1 {
				t.Fatal("the job was not recalled when it was free")
			}
		})
	}
}

// Housekeeping goes on beside transactions that have some of it locked, and comes back
// for that later.
func TestPrunePassesOverWhatATransactionHasLocked(t *testing.T) {
	for name, test := range map[string]struct {
		table, locked string
		make          []string
	}{
		"requests": {"once", "fairlead_once where caller = 'c' and once_key = '1'", []string{
			"insert into fairlead_once (created_at, caller, once_key, request, job_ids) values (1, 'c', '1', '', '[]'), (1, 'c', '2', '', '[]')",
		}},
		"entries of the audit log": {"audit", "fairlead_audit where id = 1", []string{
			"insert into fairlead_audit (at, actor, role, address, action, subject, tenant, error) values (1, '1', '', '', '', '', '', ''), (1, '2', '', '', '', '', '', '')",
		}},
		"finished jobs": {"done", "fairlead_done where id = 1", finished()},
		"jobs that a verb is about to do something to": {"done", "fairlead_job where id = 1", finished()},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLockTest(t)
			for _, statement := range test.make {
				mustExec(t, l.db, statement)
			}
			prune := func(ctx context.Context) error {
				_, err := l.store.Prune(ctx, driver.Retention{Succeeded: time.Hour}, 10)
				return err
			}
			table := "fairlead_" + test.table
			l.begin("select * from " + test.locked + " for update")
			unhindered(t, l.address, "prune", prune)
			l.wantRows(table, 1)
			l.ok(l.halfway.Rollback())
			l.ok(prune(t.Context()))
			l.wantRows(table, 0)
		})
	}
}

// finished stores two jobs that succeeded long ago.
func finished() []string {
	return []string{
		"insert into fairlead_lane (queue, tenant, kind) values ('default', 'default', 'a')",
		"insert into fairlead_job (id, lane, turn, start_by, not_before, created_at, flags) values (1, 1, 0, 0, 0, 1, 0), (2, 1, 0, 0, 0, 1, 0)",
		"insert into fairlead_done (id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at) values (1, 1, 1, 1, 1, 1, 0, 0, 1, 1), (2, 1, 1, 1, 1, 1, 0, 0, 1, 1)",
	}
}

// Statements that move a job as housekeeping does, which does not lock the job itself.

func expiring() []string {
	return []string{"insert into fairlead_done (id, lane, outcome, reason, fence, node, attempt, failures, crashes, started_at, finished_at) select id, lane, 2, 'deadline', fence, node, attempt, failures, crashes, started_at, 1 from fairlead_waiting", "delete from fairlead_waiting"}
}

func admitting() []string {
	return []string{"insert into fairlead_ready (lane, solo, turn, start_by, id, attempt, failures, crashes) select lane, 0, turn, start_by, id, attempt, failures, crashes from fairlead_parked", "delete from fairlead_parked"}
}

func promoting() []string {
	return []string{"insert into fairlead_ready (lane, solo, turn, start_by, id, attempt, failures, crashes) select lane, 0, 0, (select start_by from fairlead_job j where j.id = l.id), id, attempt, failures, crashes from fairlead_later l", "delete from fairlead_later"}
}

func TestAVerbFindsAJobWhereHousekeepingHasJustMovedIt(t *testing.T) {
	cancel := func(l *lockTest, job *fairlead.Job) error {
		return l.waits(func(ctx context.Context) error { return l.store.Cancel(ctx, job.ID, "enough") })
	}
	t.Run("whose deadline has passed", func(t *testing.T) {
		l := newLockTest(t)
		job := claimNew(t, l.store, &fairlead.Job{Kind: "a"})
		settle(t, l.store, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.MoveAwait, After: time.Hour})
		l.begin(expiring()...)
		if err := cancel(l, job); !errors.Is(err, fairlead.ErrConflict) {
			t.Errorf("the verb returned %v", err)
		}
		l.wantState(job, fairlead.Failed)
	})
	t.Run("that is admitted", func(t *testing.T) {
		l := newLockTest(t)
		enqueue(t, l.store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
		job := enqueue(t, l.store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
		l.wantState(job, fairlead.Parked)
		l.begin(admitting()...)
		l.ok(cancel(l, job))
		l.wantState(job, fairlead.Cancelled)
	})
	t.Run("that is due", func(t *testing.T) {
		l := newLockTest(t)
		job := enqueue(t, l.store, &fairlead.Job{Kind: "a", NotBefore: time.Now().Add(time.Hour)})
		l.begin(promoting()...)
		l.ok(cancel(l, job))
		l.wantState(job, fairlead.Cancelled)
	})
}

// queuedRun makes a run of a schedule that is queued, and does with it what is planned
// then.
func (l *lockTest) queuedRun() (job *fairlead.Job, act func(ctx context.Context, plan schedule.Plan) error) {
	l.Helper()
	s, err := l.store.PutSchedule(l.Context(), schedule.Schedule{
		Name: "s", Job: fairlead.Job{Kind: "a", Queue: fairlead.DefaultQueue, Tenant: fairlead.DefaultTenant},
	}, false)
	l.ok(err)
	made, err := l.store.Act(l.Context(), s.ID, func(_ schedule.Schedule, view schedule.View) (schedule.Plan, error) {
		return schedule.Plan{Fires: []schedule.PlannedFire{{Due: view.Now, Trigger: schedule.TriggerManual, Number: 1, Queued: true}}}, nil
	})
	l.ok(err)
	return &fairlead.Job{ID: made[0].Job}, func(ctx context.Context, plan schedule.Plan) error {
		_, err := l.store.Act(ctx, s.ID, func(schedule.Schedule, schedule.View) (schedule.Plan, error) { return plan, nil })
		return err
	}
}

func TestAScheduleReplacesARunThatHasJustBecomeDue(t *testing.T) {
	l := newLockTest(t)
	job, act := l.queuedRun()
	l.begin(promoting()...)
	l.ok(l.waits(func(ctx context.Context) error { return act(ctx, schedule.Plan{Cancel: []int64{job.ID}}) }))
	l.wantState(job, fairlead.Cancelled)
}

// A job lies in its place under its priority and is found there by it.
func TestARunThatIsReleasedHasThePriorityThatWasSetJustBefore(t *testing.T) {
	l := newLockTest(t)
	job, act := l.queuedRun()
	l.begin("update fairlead_job set turn = -7")
	l.ok(l.waits(func(ctx context.Context) error { return act(ctx, schedule.Plan{Admit: []int64{job.ID}}) }))
	l.wantState(job, fairlead.Ready)
	jobs, err := l.store.Claim(t.Context(), driver.Claim{Node: join(t, l.store), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 1})
	if err != nil || len(jobs) != 1 || jobs[0].Priority != 7 {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
}

// A transaction of a caller may see the database as it was. What becomes of a key is
// decided by where the job that has it is now.
func TestACallersTransactionFindsTheHolderOfAKeyWhereItIsNow(t *testing.T) {
	for name, move := range map[string]func(l *lockTest, job *fairlead.Job) error{
		"it waits": func(l *lockTest, job *fairlead.Job) error {
			return l.settle(job, fairlead.Settlement{Move: fairlead.MoveAwait, After: time.Hour})
		},
		"it has ended": func(l *lockTest, job *fairlead.Job) error {
			return l.settle(job, fairlead.Settlement{Move: fairlead.Succeed})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLockTest(t)
			holder := claimNew(t, l.store, &fairlead.Job{Kind: "a", Key: "k", KeyScope: fairlead.KeyForever})
			tx, err := l.db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			l.ok(err)
			defer tx.Rollback() //nolint:errcheck // it only has to end
			mustExecTx(t, tx, "select count(*) from fairlead_job")
			l.ok(move(l, holder))
			err = fairlead.NewClient(l.store).Within(l.store.Tx(tx)).Enqueue(t.Context(), &fairlead.Job{Kind: "a", Key: "k", OnDuplicate: fairlead.ReplaceDuplicate})
			if want := driver.KeyTaken(fairlead.DefaultTenant, "k", holder.ID); err == nil || !strings.Contains(err.Error(), want.Error()) {
				t.Errorf("the transaction got %v, want %v", err, want)
			}
		})
	}
}

func (l *lockTest) settle(job *fairlead.Job, s fairlead.Settlement) error {
	s.ID, s.Fence = job.ID, job.Fence
	_, err := l.store.Settle(l.Context(), []fairlead.Settlement{s})
	return err
}

func TestAddChunksWaitsForATransactionThatRemovesTheBatch(t *testing.T) {
	l := newLockTest(t)
	b := l.newBatch()
	l.begin("delete from fairlead_batch")
	err := l.waits(func(ctx context.Context) error {
		return l.store.AddChunks(ctx, b.ID, []batch.Chunk{{Number: 1, Pass: 1, Kind: batch.PassForward, Size: 1, Held: 1, Marks: batch.NewMarks(1), Tasks: []batch.ChunkTask{{}}}})
	})
	if !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("AddChunks returned %v", err)
	}
	l.wantRows("fairlead_part", 0)
}

// Another process may have given the free place to a job that its transaction still has
// to commit.
func TestPromoteAdmitsNoneAtAGateThatAnotherHasLocked(t *testing.T) {
	l := newLockTest(t)
	first := claimNew(t, l.store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
	second := enqueue(t, l.store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
	for _, statement := range []string{ // the first has ended, and its process has died before it let another in
		"insert into fairlead_gate_news (gate) select gate from fairlead_parked",
		"delete from fairlead_admitted where id = (select min(id) from fairlead_job)",
	} {
		mustExec(t, l.db, statement)
	}
	l.wantState(first, fairlead.Running)
	l.begin("select * from fairlead_gate for update")
	unhindered(t, l.address, "promote", func(ctx context.Context) error {
		_, err := l.store.Promote(ctx, 100)
		return err
	})
	l.wantState(second, fairlead.Parked)
	l.ok(l.halfway.Rollback())
	_, err := l.store.Promote(t.Context(), 100)
	l.ok(err)
	l.wantState(second, fairlead.Ready)
}
