package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepOf stores a sweep of some shards that runs, and begins them.
func sweepOf(t *testing.T, s *Store, node fairlead.NodeID, name string, shards int) (sweep.Sweep, []*fairlead.Job) {
	t.Helper()
	sw := sweep.Sweep{Name: name, Kind: "test", To: 1000, Status: sweep.Status{State: sweep.Created}}
	if err := sweep.Normalize(&sw); err != nil {
		t.Fatal(err)
	}
	sw, err := s.PutSweep(t.Context(), sw)
	if err != nil {
		t.Fatal(err)
	}
	parts, numbers, jobs := make([]sweep.Shard, shards), make([]int, shards), make([]*fairlead.Job, shards)
	for i := range parts {
		parts[i], numbers[i], jobs[i] = sweep.Shard{Number: i, To: 1000}, i, newJob(t)
	}
	_, err = s.Steer(t.Context(), sw.ID, true, func(ctx context.Context, w *sweep.Record, tx sweep.Tx) error {
		w.State, w.Cut = sweep.Running, true
		if err := tx.Cut(ctx, parts); err != nil {
			return err
		}
		return tx.Employ(ctx, numbers, jobs)
	})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: shards})
	if err != nil || len(claimed) != shards {
		t.Fatalf("%d of %d shards were begun: %v", len(claimed), shards, err)
	}
	return sw, claimed
}

// A checkpoint changes rows in place, however full the window is: it leaves nothing
// behind that only a vacuum removes. The server may happen to analyze the database
// meanwhile, for whose sake it keeps old rows; hardly three times in a row.
func TestCheckpointsLeaveNothingBehind(t *testing.T) {
	tier.Long(t, "an analysis by the server spoils a try, and takes long on a busy machine")
	const shards, tries = 3, 3
	var pages, toasted int64
	for range tries {
		if pages, toasted = sizeAfterCheckpoints(t, shards); pages <= 4*shards && toasted == 0 {
			return
		}
	}
	t.Errorf("%d shards take %d pages, and %d bytes beside these", shards, pages, toasted)
}

// sizeAfterCheckpoints tells how large the progress of a sweep has become, in pages,
// and what is stored beside it, in bytes.
func sizeAfterCheckpoints(t *testing.T, shards int) (pages, toasted int64) {
	t.Helper()
	const rounds = 200
	store := open(t, migrated.Postgres(t), Options{ListenURL: noListening})
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s, jobs := sweepOf(t, store, node, "s", shards)
	window := bytes.Repeat([]byte{0x5A, 0xC3, 0x17, 0x88, 0x01}, 410)
	for round := range rounds {
		for i, job := range jobs {
			window[round] ^= 0xFF
			_, err := store.Checkpoint(t.Context(), sweep.Checkpoint{
				Sweep: s.ID, Number: i, Job: job.ID, Fence: job.Fence, Mark: int64(round), Window: window,
				Pending: json.RawMessage(`["` + strings.Repeat(fmt.Sprint(round%10, i), 600) + `"]`), Done: int64(round),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	err = store.pool.QueryRow(t.Context(), `
		select pg_relation_size('fairlead_shard_progress') / 8192,
		       (select coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) from pg_class where oid = 'fairlead_shard_progress'::regclass)`).Scan(&pages, &toasted)
	if err != nil {
		t.Fatal(err)
	}
	return pages, toasted
}

// What nodes and runs ask is found by an index, however many sweeps and lines there are.
func TestPlansNeverScanSweeps(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, withParams(t, at, "pool_max_conns", "1"), Options{ListenURL: noListening})
	plans := spyOnPlans(t, store, at)
	node, err := store.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sweep", "shard", "shard_progress", "failed_item", "sweep_log", "sweep_event"} {
		exec(t, at, "alter table fairlead_"+table+" set unlogged, set (autovacuum_enabled = off)")
	}
	sweepVerbs(t, store, node, "empty") // every statement is planned, on empty tables
	rows := tier.Size(t, 10_000, 50_000, "has larger tables")
	exec(t, at, fmt.Sprintf(`
		insert into fairlead_sweep (version, created_at, name, tenant, state, status, body)
		select 1, 1, 'copy ' || n, 'tenant ' || n %% 100, case n %% 100 when 0 then 'running' else 'finished' end, w.status, w.body
		from (select status, body from fairlead_sweep order by id limit 1) w, generate_series(1, %[1]d / 5 * 2) n;
		insert into fairlead_shard (sweep, number) select 1000000 + n / 10, n %% 10 from generate_series(1, %[1]d) n;
		insert into fairlead_shard_progress (sweep, number, from_index, to_index, mark, ended) select 1000000 + n / 10, n %% 10, 0, 1, 0, false from generate_series(1, %[1]d) n;
		insert into fairlead_failed_item (sweep, idx, at, attempts, error) select 1000000 + n %% 100, n, 1, 1, '' from generate_series(1, %[1]d) n;
		insert into fairlead_sweep_log (sweep, idx, at, level, text) select 1000000 + n %% 100, n, 1, 'info', '' from generate_series(1, %[1]d) n;
		insert into fairlead_sweep_event (sweep, at, actor, action, was, became, note) select 1000000 + n %% 100, 1, '', '', '', '', '' from generate_series(1, %[1]d) n`, rows))
	plans.forget()
	sweepVerbs(t, store, node, "full")
	bad := regexp.MustCompile(`Seq Scan on fairlead_(sweep|shard|failed)`)
	whole := regexp.MustCompile(`Index (Only )?Scan .* on fairlead_(shard|shard_progress|failed_item|sweep_log|sweep_event)\b.*\n\s+(->|CTE|Filter)`)
	for _, plan := range plans.seen() {
		if bad.MatchString(plan) || whole.MatchString(plan) {
			t.Errorf("a plan reads a whole table:\n%s", plan)
		}
	}
}

// sweepVerbs does everything that happens to sweeps.
func sweepVerbs(t *testing.T, s *Store, node fairlead.NodeID, name string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 7 {
		sw, jobs := sweepOf(t, s, node, fmt.Sprint(name, round), 3)
		first := sweep.Checkpoint{Sweep: sw.ID, Job: jobs[0].ID, Fence: jobs[0].Fence, Mark: 5, Failed: []sweep.FailedItem{{Index: 1}, {Index: 3}}, Redone: []int64{3}}
		_, err := s.Checkpoint(ctx, first)
		must(err)
		_, err = s.Steer(ctx, sw.ID, false, func(ctx context.Context, w *sweep.Record, tx sweep.Tx) error {
			shards, _, err := tx.Shards(ctx)
			if err != nil {
				return err
			}
			shards[0].Share.InFlight = 5
			if err := tx.Grant(ctx, shards); err != nil {
				return err
			}
			if _, err := tx.Again(ctx, []int64{1, 9}); err != nil {
				return err
			}
			if err := tx.Forget(ctx); err != nil {
				return err
			}
			w.State = sweep.Finished
			return tx.Record(ctx, sweep.Event{Action: "finish"})
		})
		must(err)
		must(s.AddSweepLogs(ctx, []sweep.Log{{Sweep: sw.ID, Index: 1}}))
		_, err = s.FailedItems(ctx, sweep.ItemFilter{Sweep: sw.ID})
		must(err)
		for _, index := range []*int64{nil, new(int64(1))} {
			_, err = s.SweepLogs(ctx, sweep.LogFilter{Sweep: sw.ID, Index: index, Levels: []string{"info"}})
			must(err)
		}
		_, err = s.SweepEvents(ctx, sweep.EventFilter{Sweep: sw.ID, Limit: 10})
		must(err)
		_, err = s.Shards(ctx, sw.ID)
		must(err)
		for _, filter := range []sweep.Filter{
			{}, {IDs: []int64{sw.ID}}, {Names: []string{sw.Name}}, {States: []sweep.State{sweep.Running}}, {Tenants: []string{"tenant 1"}},
		} {
			_, err := s.Sweeps(ctx, filter)
			must(err)
		}
		_, err = s.Prune(ctx, driver.Retention{Failed: time.Nanosecond}, 100)
		must(err)
		if round > 0 { // the first is what is copied
			must(s.DeleteSweep(ctx, sw.ID))
		}
		for _, job := range jobs {
			_, err := s.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}})
			must(err)
		}
	}
}
