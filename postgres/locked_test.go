package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// returns expects a call to return although transactions are open.
func (l *limitTest) returns(call func() error) {
	l.Helper()
	const surely = 40 // looks in a row: what is waited for here is not let go
	done, conn, waits := make(chan error, 1), connect(l.T, l.at), 0
	go func() { done <- call() }()
	for begun := time.Now(); time.Since(begun) < patience.Limit; {
		select {
		case err := <-done:
			l.ok(err)
			return
		case <-time.After(5 * time.Millisecond):
		}
		var waiting bool
		l.ok(conn.QueryRow(l.Context(), "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())").Scan(&waiting))
		if waits++; !waiting {
			waits = 0
		}
		if waits == surely {
			l.Fatal("the call waits for the transaction")
		}
	}
	l.Fatal("the call does not return")
}

// begun begins a call that waits, and returns when so many calls do.
func (l *limitTest) begun(waiting int, call func() error) <-chan error {
	l.Helper()
	done, conn := make(chan error, 1), connect(l.T, l.at)
	go func() { done <- call() }()
	for begun := time.Now(); time.Since(begun) < patience.Limit; {
		n := 0
		l.ok(conn.QueryRow(l.Context(), "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()").Scan(&n))
		if n >= waiting {
			return done
		}
		select {
		case err := <-done:
			l.Fatalf("the call did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	l.Fatal("the call does not wait")
	return nil
}

func (l *limitTest) exec(sql string) {
	l.Helper()
	exec(l.T, l.at, sql)
}

// Housekeeping goes on beside transactions that have some of it locked, and comes back
// for that later.
func TestHousekeepingPassesOverWhatATransactionHasLocked(t *testing.T) {
	prune := func(l *limitTest) error {
		_, err := l.store.Prune(l.Context(), driver.Retention{Succeeded: time.Hour, Cancelled: time.Hour}, 10)
		return err
	}
	for name, work := range map[string]struct {
		table string
		key   string
		make  func(l *limitTest)
		call  func(l *limitTest) error
	}{
		"succeeded jobs": {"done", "id", func(l *limitTest) {
			l.settleAll(fairlead.Succeed)
			l.exec("update fairlead_done set finished_at = 1")
		}, prune},
		"cancelled jobs": {"done", "id", func(l *limitTest) {
			l.settleAll(fairlead.Drop)
			l.exec("update fairlead_done set finished_at = 1")
		}, prune},
		"jobs whose deadline has passed": {"waiting", "id", func(l *limitTest) {
			l.settleAll(fairlead.MoveAwait)
			l.exec("update fairlead_waiting set deadline = 1")
		}, func(l *limitTest) error {
			overdue, err := l.store.Overdue(l.Context(), 10)
			if err == nil {
				_, err = l.store.Expire(l.Context(), overdue)
			}
			return err
		}},
		"crashes of nodes": {"reaped", "id", func(l *limitTest) {
			l.exec("insert into fairlead_reaped (node, id, at, run) values (1, 1, 1, 1), (1, 2, 1, 1)")
		}, prune},
		"requests": {"once", "once_key", func(l *limitTest) {
			l.exec("insert into fairlead_once (created_at, caller, once_key, request, job_ids) values (1, 'c', '1', '', '[]'), (1, 'c', '2', '', '[]')")
		}, prune},
		"entries of the audit log": {"audit", "id", func(l *limitTest) {
			l.exec("insert into fairlead_audit (at, actor, role, address, action, subject, tenant, error) select 1, '', '', '', '', '', '', '' from generate_series(1, 2)")
		}, prune},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimitTest(t)
			work.make(l)
			table := "fairlead_" + work.table
			locking := l.begin("select from " + table + " where " + work.key + " = (select min(" + work.key + ") from " + table + ") for update")
			l.returns(func() error { return work.call(l) })
			l.wantRows(table, 1)
			l.ok(locking.Rollback(t.Context()))
			l.ok(work.call(l))
			l.wantRows(table, 0)
		})
	}
}

// settleAll makes two jobs and settles them.
func (l *limitTest) settleAll(move fairlead.Move) {
	l.Helper()
	l.enqueue("", "")
	for _, job := range l.claim(2) {
		l.settle(job, move)
	}
}

func (l *limitTest) settle(job *fairlead.Job, move fairlead.Move) {
	l.Helper()
	_, err := l.store.Settle(l.Context(), []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: move, After: time.Hour}})
	l.ok(err)
}

func (l *limitTest) wantRows(table string, want int) {
	l.Helper()
	n := 0
	l.ok(connect(l.T, l.at).QueryRow(l.Context(), "select count(*) from "+table).Scan(&n))
	if n != want {
		l.Fatalf("%s has %d rows, want %d", table, n, want)
	}
}

// A claim under limits takes several round trips. A node that has lost its lease on the
// way gets nothing.
func TestANodeThatLosesItsLeaseWhileItClaimsGetsNothing(t *testing.T) {
	for name, loss := range map[string]string{
		"it is declared dead":        "dead = true",
		"its lease ends":             "lease_until = 1",
		"its row is another process": "token = 'of another'",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimitTest(t)
			l.ok(l.store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 5}))
			l.enqueue("acme")
			busy := l.begin("select from fairlead_quota for update")
			done := l.begun(1, func() error {
				_, err := l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 1})
				return err
			})
			l.exec("update fairlead_node set " + loss)
			l.ok(busy.Rollback(t.Context()))
			if err := <-done; !errors.Is(err, fairlead.ErrLeaseLost) {
				t.Errorf("the claim returned %v", err)
			}
			l.wantRows("fairlead_running", 0)
			l.wantRows("fairlead_ready", 1)
		})
	}
}

// What another claim of a tenant uses up just now is not free.
func TestATenantsSlotIsGivenToOneOfTwoClaims(t *testing.T) {
	l := newLimitTest(t)
	l.declare(1, "acme")
	l.enqueue("acme")
	other := l.begin("update fairlead_quota set used = 1")
	var jobs []*fairlead.Job
	done := l.begun(1, func() (err error) {
		jobs, err = l.store.Claim(t.Context(), driver.Claim{Node: l.node, Scope: l.scope, Max: 1})
		return err
	})
	l.ok(other.Commit(t.Context()))
	if err := <-done; err != nil || len(jobs) != 0 {
		t.Errorf("claimed %d jobs (%v), but no slot was free", len(jobs), err)
	}
}

// A crash is counted by Reap or not at all once a node has said that it lived.
func TestLivedWaitsForReapUnderWay(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("")
	job := l.claim(1)[0]
	l.ok(l.store.Leave(t.Context(), l.node))
	stalling := l.begin("insert into fairlead_attempt (id, run, fence, started_at, finished_at, node, reason, error) select id, attempt, 0, 0, 0, 0, '', '' from fairlead_running")
	reaped := l.begun(1, func() error { // it has counted the crash
		_, err := l.store.Reap(t.Context(), driver.Reap{MaxCrashes: 5, Limit: 10})
		return err
	})
	lived := l.begun(2, func() error { return l.store.Lived(t.Context(), l.node) })
	l.ok(stalling.Rollback(t.Context()))
	l.ok(<-reaped)
	l.ok(<-lived)
	found, err := l.store.Get(context.WithoutCancel(t.Context()), job.ID)
	l.ok(err)
	if found.State != fairlead.Ready || found.Crashes != 0 {
		t.Errorf("the job is %s with %d crashes", found.State, found.Crashes)
	}
}

// A job that is claimed at this instant is in no place that a snapshot shows.
func TestLivedTakesACrashBackFromAJobThatIsClaimedMeanwhile(t *testing.T) {
	l := newLimitTest(t)
	l.enqueue("")
	job := l.claim(1)[0]
	l.ok(l.store.Leave(t.Context(), l.node))
	_, err := l.store.Reap(t.Context(), driver.Reap{MaxCrashes: 5, Limit: 10})
	l.ok(err)
	claiming := l.begin(`with r as (delete from fairlead_ready returning *)
		insert into fairlead_running (id, fence, node, started_at, lane, attempt, failures, crashes)
		select id, 1, 1, 1, lane, attempt + 1, failures, crashes from r`)
	lived := l.begun(1, func() error { return l.store.Lived(t.Context(), l.node) })
	l.ok(claiming.Commit(t.Context()))
	l.ok(<-lived)
	found, err := l.store.Get(t.Context(), job.ID)
	l.ok(err)
	if found.State != fairlead.Running || found.Crashes != 0 {
		t.Errorf("the job is %s with %d crashes", found.State, found.Crashes)
	}
}
