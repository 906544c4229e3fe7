package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

// hostile are session settings under which careless SQL means something else
// or fails.
func hostile() map[string]string {
	return map[string]string{
		"sql_mode":             "'ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO,HIGH_NOT_PRECEDENCE'",
		"time_zone":            "'-09:30'",
		"character_set_client": "latin1", "character_set_connection": "latin1", "character_set_results": "latin1",
	}
}

// TestHostileServer runs the contract on a server whose defaults, and in
// callers' transactions whose settings, are unlike what most have. Any
// statement could mean something else there; how many rows it is given, and
// what random ones lead to, is the same.
func TestHostileServer(t *testing.T) {
	tier.Long(t, "repeats the contract on a server with other settings")
	server, err := testdb.StartMySQL(t.Context(), testdb.Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin := rawDB(t, server.URL(), nil)
	for _, setting := range []string{
		"sql_mode = 'ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES'", "time_zone = '+05:45'",
		"innodb_lock_wait_timeout = 1", "character_set_server = latin1", "tx_isolation = 'SERIALIZABLE'", "autocommit = 0",
	} {
		mustExec(t, admin, "set global "+setting)
	}
	var databases atomic.Int32 // chapters run side by side
	open := func(t *testing.T) *storetest.Harness {
		t.Helper()
		name := fmt.Sprintf("it's a \"test\" %d", databases.Add(1))
		mustExec(t, admin, "create database `"+name+"`")
		address := fmt.Sprintf("mysql://root@%s/%s", server.Addr(), name)
		return newHarness(t, address, mysql.Options{Prefix: "Other$_"}, hostile())
	}
	storetest.Run(t, open, storetest.Enqueuing, storetest.Reading, storetest.Claiming, storetest.Administering,
		storetest.Scheduling, storetest.Conducting, storetest.Sweeping, storetest.Interleaving, storetest.Planning, storetest.Texts)
}

// TestTxAtEveryIsolationLevel enqueues and settles in transactions whose
// snapshot is older than what they have to see.
func TestTxAtEveryIsolationLevel(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			ctx, address := t.Context(), testdb.MySQL(t)
			store, err := mysql.Open(ctx, address)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			mustExec(t, rawDB(t, address, nil), "create table callers_own (n int) engine = InnoDB")
			caller := rawDB(t, address, map[string]string{"time_zone": "'+11:00'"})
			tx, err := caller.BeginTx(ctx, &sql.TxOptions{Isolation: level})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it is over after the commit
			var n int
			if err := tx.QueryRowContext(ctx, "select count(*) from callers_own").Scan(&n); err != nil { // the snapshot
				t.Fatal(err)
			}
			// All of this happens after the snapshot was taken.
			holder := enqueue(t, store, &fairlead.Job{Kind: "a", Key: "replaced"})
			kept := enqueue(t, store, &fairlead.Job{Kind: "a", Key: "kept"})
			running := claimNew(t, store, &fairlead.Job{Kind: "b", Key: "running"})
			ended := claimNew(t, store, &fairlead.Job{Kind: "c"})
			settle(t, store, fairlead.Settlement{ID: ended.ID, Fence: ended.Fence, Move: fairlead.Succeed})

			in := store.Tx(tx)
			jobs := []*fairlead.Job{
				{Kind: "new in a transaction"},
				{Kind: "a", Key: "kept", OnDuplicate: fairlead.KeepDuplicate},
				{Kind: "a", Key: "replaced", OnDuplicate: fairlead.ReplaceDuplicate},
			}
			if err := fairlead.NormalizeJobs(jobs); err != nil {
				t.Fatal(err)
			}
			if err := in.Enqueue(ctx, jobs); err != nil {
				t.Fatal(err)
			}
			if jobs[1].ID != kept.ID {
				t.Errorf("the duplicate got the ID %d, want %d", jobs[1].ID, kept.ID)
			}
			settled, err := in.Settle(ctx, []fairlead.Settlement{
				{ID: running.ID, Fence: running.Fence, Move: fairlead.Again, Reason: fairlead.ReasonError},
				{ID: ended.ID, Fence: ended.Fence, Move: fairlead.Succeed},
				{ID: ended.ID, Fence: ended.Fence + 1, Move: fairlead.Succeed},
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []fairlead.Settled{fairlead.SettledAsAsked, fairlead.SettledLost, fairlead.SettledLost} { // what has ended does not end again
				if settled[i] != want {
					t.Errorf("settlement %d was answered with %v, want %v", i, settled[i], want)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			for id, want := range map[int64]fairlead.State{
				holder.ID: fairlead.Cancelled, jobs[0].ID: fairlead.Ready, jobs[2].ID: fairlead.Ready, running.ID: fairlead.Ready,
			} {
				job, err := store.Get(ctx, id)
				if err != nil || job.State != want {
					t.Errorf("job %d: %v, %v; want it %s", id, job, err, want)
				}
			}
		})
	}
}

// TestTxInConvertingSession replaces jobs in transactions whose session converts
// texts on their way: they lose what the other character set lacks, or become
// other bytes. A key that is missed by that would be the cancelled job's for good.
func TestTxInConvertingSession(t *testing.T) {
	for _, charset := range []string{"latin1", "utf16"} {
		t.Run(charset, func(t *testing.T) {
			address := testdb.MySQL(t)
			store := openStore(t, address, mysql.Options{})
			old := enqueue(t, store, &fairlead.Job{Kind: "a", Key: "ключ"})
			settings := map[string]string{"character_set_client": "utf8mb4", "character_set_connection": charset, "character_set_results": "latin1"}
			tx, err := rawDB(t, address, settings).BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it is over after the commit
			var last *fairlead.Job
			for range 2 { // one that was there before, and one of its own
				last = &fairlead.Job{Kind: "a", Key: "ключ", OnDuplicate: fairlead.ReplaceDuplicate}
				if err := fairlead.NewClient(store).Within(store.Tx(tx)).Enqueue(t.Context(), last); err != nil {
					t.Fatal(err)
				}
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			kept := enqueue(t, store, &fairlead.Job{Kind: "a", Key: "ключ", OnDuplicate: fairlead.KeepDuplicate})
			if kept.ID != last.ID {
				t.Errorf("the key is held by job %d, want %d; the first was %d", kept.ID, last.ID, old.ID)
			}
		})
	}
}

func enqueue(t testing.TB, store storetest.Store, job *fairlead.Job) *fairlead.Job {
	t.Helper()
	if err := fairlead.NewClient(store).Enqueue(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	return job
}

// claimNew enqueues a job and claims it for a new node.
func claimNew(t testing.TB, store storetest.Store, job *fairlead.Job) *fairlead.Job {
	t.Helper()
	enqueue(t, store, job)
	jobs, err := store.Claim(context.Background(), driver.Claim{Node: join(t, store), Scope: &driver.Scope{Kinds: []string{job.Kind}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	return jobs[0]
}

func settle(t testing.TB, store storetest.Store, settlements ...fairlead.Settlement) {
	t.Helper()
	if _, err := store.Settle(context.Background(), settlements); err != nil {
		t.Fatal(err)
	}
}
