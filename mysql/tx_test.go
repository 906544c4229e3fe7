package mysql_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
)

// TestTxHoldsUpNobody lets a caller's transaction do all it can and stay open:
// at the stricter isolation levels a careless statement locks the gap at the
// end of a table, and then every transaction that adds to it waits.
func TestTxHoldsUpNobody(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			address := mysql.Migrated.MySQL(t)
			store := openStore(t, address, mysql.Options{})
			if err := store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 6}); err != nil {
				t.Fatal(err)
			}
			soon := time.Now().Add(time.Hour)
			enqueue(t, store, &fairlead.Job{Kind: "a", Key: "ready"})
			enqueue(t, store, &fairlead.Job{Kind: "a", Key: "scheduled", NotBefore: soon})
			one, two := claimNew(t, store, &fairlead.Job{Kind: "b", Key: "one"}), claimNew(t, store, &fairlead.Job{Kind: "c"})

			ctx, stop := watchLocks(t, address)
			defer stop()
			tx, err := rawDB(t, address, nil).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // the test is over
			in := fairlead.NewClient(store).Within(store.Tx(tx))
			err = in.Enqueue(ctx,
				&fairlead.Job{Kind: "a"},
				&fairlead.Job{Kind: "a", NotBefore: soon},
				&fairlead.Job{Kind: "a", Key: "free"},
				&fairlead.Job{Kind: "a", Key: "ready", OnDuplicate: fairlead.ReplaceDuplicate},
				&fairlead.Job{Kind: "a", Key: "scheduled", OnDuplicate: fairlead.ReplaceDuplicate, NotBefore: soon},
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := in.Complete(ctx, one, nil); err != nil {
				t.Fatal(err)
			}
			settled, err := store.Tx(tx).Settle(ctx, []fairlead.Settlement{{ID: two.ID, Fence: two.Fence, Move: fairlead.Again, After: time.Minute}})
			if err != nil || settled[0] != fairlead.SettledAsAsked {
				t.Fatal(settled, err)
			}

			client := fairlead.NewClient(store)
			for range 3 {
				err := client.Enqueue(ctx,
					&fairlead.Job{Kind: "d"},
					&fairlead.Job{Kind: "d", NotBefore: soon},
					&fairlead.Job{Kind: "d", NotBefore: time.Now().Add(-time.Minute), Key: "other", OnDuplicate: fairlead.ReplaceDuplicate},
				)
				if err != nil {
					t.Fatal("enqueue: ", err)
				}
			}
			jobs, err := store.Claim(ctx, driver.Claim{Node: join(t, store), Scope: &driver.Scope{Kinds: []string{"a", "d"}}, Max: 100})
			if err != nil {
				t.Fatal("claim: ", err)
			}
			if len(jobs) != 4 {
				t.Errorf("%d jobs were claimed, want the 4 that are free", len(jobs))
			}
			if more, err := store.Claim(ctx, driver.Claim{Node: join(t, store), Scope: &driver.Scope{Kinds: []string{"d"}}, Max: 1}); err != nil || len(more) != 0 {
				t.Fatalf("claimed %v, %v beyond the cap: what is settled counts until the commit", more, err)
			}
			for i, move := range []fairlead.Move{fairlead.Succeed, fairlead.Again, fairlead.MoveAwait, fairlead.MoveRelease} {
				settlement := fairlead.Settlement{ID: jobs[i].ID, Fence: jobs[i].Fence, Move: move, After: time.Minute, FreeKey: true}
				if _, err := store.Settle(ctx, []fairlead.Settlement{settlement}); err != nil {
					t.Fatal(move, ": ", err)
				}
			}
			if _, err := store.Promote(ctx, 100); err != nil {
				t.Fatal("promote: ", err)
			}
			if _, err := store.Reap(ctx, driver.Reap{MaxCrashes: 1, Limit: 100}); err != nil {
				t.Fatal("reap: ", err)
			}
			if err := client.PauseKind(ctx, "z"); err != nil {
				t.Fatal("pause: ", err)
			}
		})
	}
}

// TestTxDoesNotWaitForWhoOperates settles jobs in a caller's transaction while others
// have begun to operate on them. These lock a job before its place: if the
// transaction waited for them, they would wait for each other.
func TestTxDoesNotWaitForWhoOperates(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			address := mysql.Migrated.MySQL(t)
			store := openStore(t, address, mysql.Options{})
			var settlements []fairlead.Settlement
			for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait} {
				for _, job := range []*fairlead.Job{{Kind: "a"}, {Kind: "a", Key: string(move), ConcurrencyKey: string(move)}} {
					claimed := claimNew(t, store, job)
					settlements = append(settlements, fairlead.Settlement{ID: claimed.ID, Fence: claimed.Fence, Move: move, After: time.Minute, FreeKey: true})
				}
			}
			operating, err := rawDB(t, address, nil).BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer operating.Rollback() //nolint:errcheck // it only holds locks
			mustExecTx(t, operating, "select id from fairlead_job for update")

			tx, err := rawDB(t, address, nil).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it is over after the commit
			unhindered(t, address, "settle", func(ctx context.Context) error {
				settled, err := store.Tx(tx).Settle(ctx, settlements)
				for i := range settled {
					if settled[i] != fairlead.SettledAsAsked {
						t.Errorf("%s ended as %v", settlements[i].Move, settled[i])
					}
				}
				return err
			})
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
