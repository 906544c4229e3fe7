package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestABusyPoolDoesNotDelayBeats(t *testing.T) {
	store := open(t, withParams(t, migrated.Postgres(t), "pool_max_conns", "1"), Options{})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	held, err := store.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	if _, err := store.Beat(ctx, driver.Beat{Node: node, Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
}

// Trap 7: a process that was stopped in the middle must not hold its locks.
func TestTheServerEndsTransactionsThatAreLeftIdle(t *testing.T) {
	at := migrated.Postgres(t)
	open(t, at, Options{}) // a slow machine could not migrate within that limit
	store := open(t, at, Options{IdleLimit: 50 * time.Millisecond})
	err := store.inTx(t.Context(), func(ctx context.Context, r runner) error {
		if err := r.run(ctx, call{sql: store.sql.Now}); err != nil {
			return err
		}
		untilEnded(t, at)
		return r.run(ctx, call{sql: store.sql.Now})
	})
	if err == nil {
		t.Fatal("the transaction survived")
	}
	if _, err := store.Now(t.Context()); err != nil {
		t.Fatalf("the store did not: %v", err)
	}
}

func TestEveryQueryIsBounded(t *testing.T) {
	tier.Long(t, "opens a store whose timeout is short")
	at := migrated.Postgres(t)
	job := newJob(t)
	if err := open(t, at, Options{}).Enqueue(t.Context(), []*fairlead.Job{job}); err != nil {
		t.Fatal(err)
	}
	tx, err := connect(t, at).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "lock table fairlead_ready")
	}
	if err != nil {
		t.Fatal(err)
	}
	store := open(t, at, Options{QueryTimeout: 200 * time.Millisecond, NoMigrate: true})
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for name, do := range map[string]func() error{
		"enqueue": func() error { return store.Enqueue(ctx, []*fairlead.Job{newJob(t)}) },
		"cancel":  func() error { return store.Cancel(ctx, job.ID, "") },
		"reopen":  func() error { return store.Delete(ctx, job.ID) },
		"find":    func() error { _, err := store.Find(ctx, fairlead.Filter{}); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s went past a lock", name)
		}
		if ctx.Err() != nil {
			t.Fatalf("%s is not bounded", name)
		}
	}
}

// Trap 26: nothing is assumed of the caller's isolation level. What a strict
// transaction cannot see it must not silently ignore.
func TestACallersStrictTransaction(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	tx, err := connect(t, at).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err == nil {
		_, err = tx.Exec(t.Context(), "select 1 from pg_class limit 1") // its view of the world is fixed
	}
	if err != nil {
		t.Fatal(err)
	}
	keyed := func(j *fairlead.Job) { j.Key, j.Tenant = "k", "first seen later" }
	if err := store.Enqueue(t.Context(), []*fairlead.Job{newJob(t, keyed)}); err != nil {
		t.Fatal(err)
	}
	job := newJob(t, func(j *fairlead.Job) { j.Tenant = "first seen later" })
	if err := store.Tx(tx).Enqueue(t.Context(), []*fairlead.Job{job}); err != nil {
		t.Fatalf("a job in a lane that the transaction cannot see: %v", err)
	}
	err = store.Tx(tx).Enqueue(t.Context(), []*fairlead.Job{newJob(t, keyed)})
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "40001" {
		t.Fatalf("a key that was taken behind its back: %v", err)
	}
}

func TestAHotFlushKeepsToTheFences(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	jobs := make([]*fairlead.Job, 30)
	for i := range jobs {
		jobs[i] = newJob(t)
	}
	if err := store.Enqueue(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	var settlements []fairlead.Settlement
	for range 3 { // three claims, three fences
		claimed, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range claimed {
			settlements = append(settlements, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed})
		}
	}
	settlements[3].Fence = settlements[25].Fence // that of another job of the same flush
	settlements[7].ID = 1 << 50
	for range 2 { // the answer of the first was lost
		settled, err := store.Settle(t.Context(), settlements)
		if err != nil {
			t.Fatal(err)
		}
		for i, answer := range settled {
			if lost := i == 3 || i == 7; lost != (answer == fairlead.SettledLost) {
				t.Errorf("settlement %d got %v", i, answer)
			}
		}
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Succeeded] != 28 || tally[fairlead.Running] != 2 {
		t.Fatalf("the tally is %v, %v", tally, err)
	}
}

func TestOneBadSettlementDoesNotHarmTheOthers(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Enqueue(t.Context(), []*fairlead.Job{newJob(t), newJob(t), newJob(t)}); err != nil {
		t.Fatal(err)
	}
	claimed, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 3})
	if err != nil {
		t.Fatal(err)
	}
	var settlements []fairlead.Settlement
	for i, job := range claimed {
		settlements = append(settlements, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, Output: []byte([]string{`1`, `{"not": json`, `3`}[i])})
	}
	if _, err := store.Settle(t.Context(), settlements); err == nil {
		t.Fatal("malformed output was settled")
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Succeeded] != 2 || tally[fairlead.Running] != 1 {
		t.Fatalf("the tally is %v, %v", tally, err)
	}
}

func TestALargeBatchKeepsEveryField(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	now, err := store.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	jobs := make([]*fairlead.Job, 100)
	for i := range jobs {
		jobs[i] = newJob(t, func(j *fairlead.Job) {
			switch i % 4 {
			case 0:
				j.Args, j.Trace, j.Tenant = []byte(`{"ü": [1, 2.50]}`), "00-trace", "acme"
			case 1:
				j.NotBefore, j.Priority = now.Add(time.Hour), 7
			case 2:
				j.NotBefore, j.StartBy, j.OnCrash = now.Add(-time.Hour), now.Add(time.Hour), fairlead.CancelOnCrash
			case 3:
				j.Timeout, j.MaxAttempts, j.Retry = time.Minute, 3, fairlead.Fixed(time.Second)
			}
		})
	}
	if err := store.Enqueue(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	for i, job := range jobs {
		got, err := store.Get(t.Context(), job.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := *job
		want.Status = got.Status
		want.State = fairlead.Ready
		if i%4 == 1 {
			want.State, want.StartBy = fairlead.Scheduled, want.NotBefore
		} else if want.StartBy.IsZero() {
			want.StartBy = got.CreatedAt
		}
		if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty()); diff != "" || got.CreatedAt.Before(now) {
			t.Fatalf("job %d differs (-want +got):\n%s", i, diff)
		}
	}
}

func TestAClaimPassesOverWhatACallersTransactionHolds(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	keyed := func(j *fairlead.Job) { j.Key, j.OnDuplicate = "k", fairlead.ReplaceDuplicate }
	first, second, third := newJob(t, keyed), newJob(t), newJob(t)
	for _, job := range []*fairlead.Job{first, second, third} {
		if err := store.Enqueue(t.Context(), []*fairlead.Job{job}); err != nil {
			t.Fatal(err)
		}
	}
	tx := beginPgx(t, at, store)
	if err := tx.Tx.Enqueue(t.Context(), []*fairlead.Job{newJob(t, keyed)}); err != nil {
		t.Fatal(err)
	}
	claim := func(want *fairlead.Job) {
		t.Helper()
		jobs, err := store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 1})
		if err != nil || len(jobs) != 1 || jobs[0].ID != want.ID {
			t.Fatalf("claimed %v, %v; want job %d", jobs, err, want.ID)
		}
	}
	claim(second) // the first is about to be replaced
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	claim(first)
	claim(third)
}
