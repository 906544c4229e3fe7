package schedule_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func nightly() schedule.Schedule {
	return schedule.Schedule{
		Name: "nightly", Cron: "0 3 * * *", Zone: "Europe/Paris", CatchUp: schedule.CatchUpCompact,
		Job: fairlead.Job{Kind: "report", Args: json.RawMessage(`{"of": "sales"}`), Priority: 3},
	}
}

func mustEnsure(t *testing.T, c *schedule.Client, s schedule.Schedule) schedule.Ensured {
	t.Helper()
	ensured, err := c.Ensure(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return ensured
}

func TestEnsureCreatesAScheduleOnce(t *testing.T) {
	store := openStore(t)
	c := schedule.NewClient(store)
	first := mustEnsure(t, c, nightly())
	if !first.Created || first.ID == 0 || first.Disabled || first.Due.IsZero() {
		t.Errorf("the first time: %+v", first)
	}
	again := mustEnsure(t, c, nightly())
	if again.Created || len(again.Changed) != 0 || again.ID != first.ID || again.Version != first.Version {
		t.Errorf("the second time: %+v", again)
	}
	log, err := store.AuditLog(t.Context(), access.Filter{Action: "EnsureSchedule"})
	if err != nil || len(log) != 1 || log[0].Subject != "schedule:nightly" || log[0].Actor != "ensure" {
		t.Errorf("the audit log has %+v, %v", log, err)
	}
}

func TestEnsureChangesBackWhatItOwnsAndSaysSo(t *testing.T) {
	store := openStore(t)
	c := schedule.NewClient(store)
	s := mustEnsure(t, c, nightly()).Schedule
	s.Cron, s.Daily, s.Job.Priority, s.Job.Args = "", "12:00", 7, json.RawMessage(`{"of":"costs"}`)
	if _, err := c.Put(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	back := mustEnsure(t, c, nightly())
	changed := map[string]string{}
	for _, d := range back.Changed {
		changed[d.Field] = d.Was + " → " + d.Is
	}
	for field, want := range map[string]string{
		"daily": `"12:00" → ""`, "job.priority": "7 → 3", "job.args": `{"of":"costs"} → {"of":"sales"}`,
	} {
		if changed[field] != want {
			t.Errorf("%s: reported %s, want %s", field, changed[field], want)
		}
	}
	if len(changed) != 4 || back.Daily != "" || back.Cron == "" || back.Job.Priority != 3 {
		t.Errorf("it is %+v after the changes %v", back.Schedule, back.Changed)
	}
	log, err := store.AuditLog(t.Context(), access.Filter{Subject: "schedule:nightly", Limit: 1})
	if err != nil || len(log) != 1 {
		t.Fatalf("the audit log has %+v, %v", log, err)
	}
	var before map[string]string
	if err := json.Unmarshal(log[0].Before, &before); err != nil || before["job.priority"] != "7" {
		t.Errorf("the audit log says %s, %v", log[0].Before, err)
	}
}

func TestEnsureLeavesAloneWhatItDoesNotSet(t *testing.T) {
	c := schedule.NewClient(openStore(t))
	s := mustEnsure(t, c, nightly()).Schedule
	s.Description, s.MaxConcurrency, s.Job.MaxAttempts, s.Disabled, s.Reason = "by hand", 2, 5, true, "too loud"
	changed, err := c.Put(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	after := mustEnsure(t, c, nightly())
	if len(after.Changed) != 0 || after.Version != changed.Version || !after.Disabled || after.Job.MaxAttempts != 5 {
		t.Errorf("it is %+v after the changes %v", after.Schedule, after.Changed)
	}
}

func TestEnsureTakesWhatMeansTheSameForTheSame(t *testing.T) {
	c := schedule.NewClient(openStore(t))
	s := nightly()
	s.StartsAt = time.Date(2030, 1, 1, 12, 0, 0, 1, time.UTC)
	mustEnsure(t, c, s)
	s.StartsAt, s.Job.Args = s.StartsAt.In(time.FixedZone("z", 3600)), json.RawMessage(`{"of":"sales"}`)
	if again := mustEnsure(t, c, s); len(again.Changed) != 0 {
		t.Errorf("it changed %v", again.Changed)
	}
}

func TestEnsureRefusesWhatPutRefuses(t *testing.T) {
	c := schedule.NewClient(openStore(t))
	mustEnsure(t, c, nightly())
	s := nightly()
	s.Every = time.Hour
	if _, err := c.Ensure(t.Context(), s); !errors.Is(err, fairlead.ErrInvalid) {
		t.Errorf("with two timings: %v", err)
	}
}

func TestManyProgramsEnsureAtOnce(t *testing.T) {
	c := schedule.NewClient(openStore(t))
	var created atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			ensured, err := c.Ensure(context.WithoutCancel(t.Context()), nightly())
			if err != nil {
				t.Error(err)
			}
			if ensured.Created {
				created.Add(1)
			}
		})
	}
	all.Wait()
	if found, err := c.List(t.Context(), schedule.Filter{}); len(found) != 1 || err != nil || created.Load() != 1 {
		t.Errorf("%d schedules, created %d times, %v", len(found), created.Load(), err)
	}
}

func TestEnsureWithinATransactionCountsWithIt(t *testing.T) {
	store := openStore(t)
	c := schedule.NewClient(store)
	for want, commit := range []bool{false, true} {
		tx, err := store.DB().BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		within := c.Within(store.Tx(tx))
		if ensured, err := within.Ensure(t.Context(), nightly()); err != nil || !ensured.Created {
			t.Fatalf("%+v, %v", ensured, err)
		}
		if again, err := within.Ensure(t.Context(), nightly()); err != nil || again.Created || len(again.Changed) > 0 {
			t.Errorf("the second time: %+v, %v", again, err)
		}
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		found, err := c.List(t.Context(), schedule.Filter{})
		log, _ := store.AuditLog(t.Context(), access.Filter{})
		if err != nil || len(found) != want || len(log) != want {
			t.Errorf("committed %v: %d schedules, %d entries in the audit log, %v", commit, len(found), len(log), err)
		}
	}
}
