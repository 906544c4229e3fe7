package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func wantStates(t *testing.T, store storetest.Store, want fairlead.State, jobs ...*fairlead.Job) {
	t.Helper()
	for _, job := range jobs {
		found, err := store.Get(t.Context(), job.ID)
		if err != nil {
			t.Fatal(err)
		}
		if found.State != want {
			t.Errorf("job %d is %s, want %s", job.ID, found.State, want)
		}
	}
}

func succeeded(job *fairlead.Job) fairlead.Settlement {
	return fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, FreeKey: true}
}

func promote(t *testing.T, store storetest.Store) {
	t.Helper()
	if _, err := store.Promote(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
}

// wantNoGates expects that nothing is left of gates.
func wantNoGates(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"parked", "admitted", "gate_news", "gate"} {
		var n int
		if err := db.QueryRowContext(context.Background(), "select count(*) from fairlead_"+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}

// TestGateIsAwaited checks that a call which gives back a place waits for the gate's
// lock, because the lock's holder may not have seen the place, and that Promote does not
// wait.
func TestGateIsAwaited(t *testing.T) {
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store := openStore(t, address, mysql.Options{})
	first := claimNew(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
	second := enqueue(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
	holder, err := rawDB(t, address, nil).BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback() //nolint:errcheck // it is over by then
	mustExecTx(t, holder, "select id from fairlead_gate for update")
	mustExec(t, rawDB(t, address, nil), "insert into fairlead_gate_news (gate) select gate from fairlead_parked")

	unhindered(t, address, "promote", func(ctx context.Context) error {
		_, err := store.Promote(ctx, 100)
		return err
	})
	settled := make(chan error, 1)
	go func() {
		_, err := store.Settle(context.Background(), []fairlead.Settlement{succeeded(first)})
		settled <- err
	}()
	awaitLockWait(t, address, settled)
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
	wantStates(t, store, fairlead.Ready, second)
}

// TestAdmissionAwaitsChangesOfLimits checks that a gate does not admit by a number of
// places that is about to change: the transaction that widens gates sees all jobs
// that were parked by the old number, and a job that comes later goes by the new one.
func TestAdmissionAwaitsChangesOfLimits(t *testing.T) {
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store := openStore(t, address, mysql.Options{})
	enqueue(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
	change, err := rawDB(t, address, nil).BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer change.Rollback() //nolint:errcheck // it is over after the commit
	mustExecTx(t, change, "update fairlead_counter set value = value + 1 where name = 'pause'")
	second := &fairlead.Job{Kind: "a", ConcurrencyKey: "g"}
	stored := make(chan error, 1)
	go func() { stored <- fairlead.NewClient(store).Enqueue(context.Background(), second) }()
	awaitLockWait(t, address, stored)
	mustExecTx(t, change, `insert into fairlead_quota (scope, name, cap, least, rate, burst, used, tokens, refilled_at, per_key)
		values ('kind', 'a', 0, 0, 0, 0, 0, 0, 0, 2)`)
	if err := change.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	wantStates(t, store, fairlead.Ready, second)
}

// TestParkedJobThatIsLocked lets a place become free while the next job is
// about to be replaced in a transaction that stays open. Settle does not wait for that
// transaction, another job gets the place if there is one, and no place is lost if the
// job stays.
func TestParkedJobThatIsLocked(t *testing.T) {
	for _, another := range []bool{false, true} {
		t.Run(fmt.Sprint("another=", another), func(t *testing.T) {
			ctx, address := t.Context(), mysql.Migrated.MySQL(t)
			store := openStore(t, address, mysql.Options{})
			first := claimNew(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
			second := enqueue(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g", Key: "k"})
			var third *fairlead.Job
			if another {
				third = enqueue(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: "g"})
			}
			tx, err := rawDB(t, address, nil).BeginTx(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it is over by then
			heir := &fairlead.Job{Kind: "b", Key: "k", OnDuplicate: fairlead.ReplaceDuplicate}
			if err := fairlead.NewClient(store).Within(store.Tx(tx)).Enqueue(ctx, heir); err != nil {
				t.Fatal(err)
			}
			unhindered(t, address, "settle", func(ctx context.Context) error {
				_, err := store.Settle(ctx, []fairlead.Settlement{succeeded(first)})
				return err
			})
			if another {
				wantStates(t, store, fairlead.Ready, third)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
			promote(t, store)
			if another {
				wantStates(t, store, fairlead.Parked, second)
			} else {
				wantStates(t, store, fairlead.Ready, second)
			}
		})
	}
}

// TestGatesAreForgotten checks that nothing is left of gates that are not in
// use, whatever becomes of the jobs.
func TestGatesAreForgotten(t *testing.T) {
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store, db := openStore(t, address, mysql.Options{}), rawDB(t, address, nil)
	var last []*fairlead.Job
	for name, end := range map[string]func(id int64) error{
		"cancel":  func(id int64) error { return store.Cancel(ctx, id, "") },
		"delete":  func(id int64) error { return store.Delete(ctx, id) },
		"put off": func(id int64) error { return store.Reschedule(ctx, id, time.Now().Add(time.Hour)) },
	} {
		var jobs []*fairlead.Job
		for range 4 {
			jobs = append(jobs, enqueue(t, store, &fairlead.Job{Kind: "a", ConcurrencyKey: name}))
		}
		for _, i := range []int{2, 0, 1} { // a parked one, and two that have the place by then
			if err := end(jobs[i].ID); err != nil {
				t.Fatal(err)
			}
		}
		last = append(last, jobs[3])
	}
	wantStates(t, store, fairlead.Ready, last...)
	jobs, err := store.Claim(ctx, driver.Claim{Node: join(t, store), Scope: &driver.Scope{Kinds: []string{"a"}}, Max: 100})
	if err != nil || len(jobs) != len(last) {
		t.Fatal(jobs, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := store.Tx(tx)
	if _, err := in.Settle(ctx, []fairlead.Settlement{succeeded(jobs[0])}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	in.Wake()
	settle(t, store, succeeded(jobs[1]), succeeded(jobs[2]))
	wantNoGates(t, db)
}

// TestManyGatesAtOnce admits at more gates, and more jobs at one, than one
// transaction takes on: by the call that enqueues, by the call that widens them, and by
// Promote.
func TestManyGatesAtOnce(t *testing.T) {
	gates := tier.Size(t, 20, 120, "has more gates than a statement names")
	most := 2 * gates
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	store, db := openStore(t, address, mysql.Options{}), rawDB(t, address, nil)
	client := fairlead.NewClient(store)
	crowd := func() (jobs []*fairlead.Job) {
		for i := range 2 * gates {
			jobs = append(jobs, &fairlead.Job{Kind: "a", ConcurrencyKey: fmt.Sprint("g", i%gates)})
		}
		for range most - 2 {
			jobs = append(jobs, &fairlead.Job{Kind: "a", ConcurrencyKey: "g0"})
		}
		return jobs
	}
	want := func(ready, parked int) {
		t.Helper()
		tally, err := store.Tally(ctx, fairlead.Filter{})
		if err != nil || tally[fairlead.Ready] != int64(ready) || tally[fairlead.Parked] != int64(parked) {
			t.Fatalf("the tally is %v, %v; want %d ready and %d parked", tally, err, ready, parked)
		}
	}
	jobs := crowd()
	if err := client.Enqueue(ctx, jobs...); err != nil {
		t.Fatal(err)
	}
	want(gates, gates+most-2)
	if err := store.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "a", PerKey: most}); err != nil {
		t.Fatal(err)
	}
	want(2*gates+most-2, 0)
	for _, job := range jobs {
		if err := store.Delete(ctx, job.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantNoGates(t, db)

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it is over by then
	if err := client.Within(store.Tx(tx)).Enqueue(ctx, crowd()...); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	want(0, 2*gates+most-2)
	// The store also admits by itself after the commit. Promote skips the gates that it has locked.
	for begun := time.Now(); time.Since(begun) < patience.Limit; {
		promote(t, store)
		if tally, err := store.Tally(ctx, fairlead.Filter{}); err != nil || tally[fairlead.Parked] == 0 {
			break
		}
	}
	want(2*gates+most-2, 0)
}

// TestTxAtGatesHoldsUpNobody lets a caller's transaction do all it can at gates
// and stay open, while others come and go there.
func TestTxAtGatesHoldsUpNobody(t *testing.T) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		t.Run(level.String(), func(t *testing.T) {
			address := mysql.Migrated.MySQL(t)
			store := openStore(t, address, mysql.Options{})
			client := fairlead.NewClient(store)
			behind := func(gate, key string) *fairlead.Job {
				return &fairlead.Job{Kind: "a", ConcurrencyKey: gate, Key: key, OnDuplicate: fairlead.ReplaceDuplicate}
			}
			backing := claimNew(t, store, behind("backing", "backing"))
			settle(t, store, fairlead.Settlement{ID: backing.ID, Fence: backing.Fence, Move: fairlead.Again, After: time.Hour})
			running := claimNew(t, store, behind("running", "running"))
			ready := enqueue(t, store, behind("ready", "ready"))
			scheduled := behind("scheduled", "scheduled")
			scheduled.NotBefore = time.Now().Add(time.Hour)
			enqueue(t, store, scheduled)
			var next []*fairlead.Job
			for _, gate := range []string{"backing", "running", "ready"} {
				next = append(next, enqueue(t, store, behind(gate, "next "+gate)))
			}
			parked := enqueue(t, store, behind("ready", "parked"))
			wantStates(t, store, fairlead.Parked, append(slices.Clone(next), parked)...)

			tx, err := rawDB(t, address, nil).BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback() //nolint:errcheck // it is over by then
			in := store.Tx(tx)
			heirs := []*fairlead.Job{
				behind("backing", "backing"), behind("ready", "ready"), behind("scheduled", "scheduled"), behind("ready", "parked"), behind("new", ""),
			}
			unhindered(t, address, "enqueue in the transaction", func(ctx context.Context) error { return client.Within(in).Enqueue(ctx, heirs...) })
			unhindered(t, address, "settle in the transaction", func(ctx context.Context) error {
				_, err := in.Settle(ctx, []fairlead.Settlement{succeeded(running)})
				return err
			})

			var late []*fairlead.Job
			for _, gate := range []string{"backing", "running", "ready", "scheduled", "new", "other"} {
				job := behind(gate, "")
				unhindered(t, address, "enqueue at "+gate, func(ctx context.Context) error { return client.Enqueue(ctx, job) })
				late = append(late, job)
			}
			wantStates(t, store, fairlead.Parked, late[:3]...)
			wantStates(t, store, fairlead.Ready, late[3:]...)
			for _, job := range late[3:] {
				unhindered(t, address, "cancel", func(ctx context.Context) error { return store.Cancel(ctx, job.ID, "") })
			}
			unhindered(t, address, "promote", func(ctx context.Context) error {
				_, err := store.Promote(ctx, 100)
				return err
			})
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			in.Wake()
			wantStates(t, store, fairlead.Cancelled, backing, ready, scheduled, parked)
			wantStates(t, store, fairlead.Ready, append(slices.Clone(next), heirs[2], heirs[4])...)
			wantStates(t, store, fairlead.Parked, heirs[0], heirs[1], heirs[3], late[0], late[1], late[2])
		})
	}
}
