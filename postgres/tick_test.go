package postgres

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// planned is a schedule that is not due.
func planned(t *testing.T, s *Store, name string, changes ...func(*fairlead.Job)) schedule.Schedule {
	t.Helper()
	schedule, err := s.PutSchedule(t.Context(), schedule.Schedule{Name: name, Every: time.Hour, Job: *newJob(t, changes...)}, false)
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}

// fireNow makes runs of a schedule, and returns what the decision was made from.
func fireNow(t *testing.T, s *Store, id int64, runs ...schedule.PlannedFire) (fires []schedule.Fire, seen schedule.View) {
	t.Helper()
	fires, err := s.Act(t.Context(), id, func(sc schedule.Schedule, view schedule.View) (schedule.Plan, error) {
		seen = view
		return schedule.Plan{Fires: runs, Cursor: sc.Cursor}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fires, seen
}

// stay plans nothing, and notes of which schedule.
func stay(names *[]string) func(schedule.Schedule, schedule.View) schedule.Plan {
	return func(s schedule.Schedule, _ schedule.View) schedule.Plan {
		*names = append(*names, s.Name)
		return schedule.Plan{Cursor: s.Cursor}
	}
}

var byHand = schedule.PlannedFire{Due: time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC), Trigger: schedule.TriggerManual, Number: 1}

// Runs that have ended are found however many are open, though not by one tick.
func TestTicksSeeAllOpenRuns(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	store.rounds.window = 3
	const schedules = 10
	var want, got []string
	for i := range schedules {
		schedule := planned(t, store, fmt.Sprint("s", i))
		fires, _ := fireNow(t, store, schedule.ID, byHand, byHand)
		if i%3 == 0 {
			want = append(want, schedule.Name)
			if err := store.Cancel(t.Context(), fires[1].Job, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range schedules {
		store.rounds.rest = time.Time{}
		if _, err := store.Tick(t.Context(), schedules, stay(&got)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("ticks saw ended runs of %v, want %v", got, want)
	}
}

// While there are more open runs than one look reaches, looks keep a distance, and
// what is due does not wait for them.
func TestTicksRestBetweenLooks(t *testing.T) {
	store := open(t, migrated.Postgres(t), Options{})
	store.rounds.window = 1
	s := planned(t, store, "s")
	fireNow(t, store, s.ID, byHand, byHand)
	var got []string
	if _, err := store.Tick(t.Context(), 1, stay(&got)); err != nil {
		t.Fatal(err)
	}
	if store.rounds.begin(1) != nil && time.Now().Before(store.rounds.rest) {
		t.Fatal("the next look follows at once")
	}
	store.rounds.rest = time.Now().Add(time.Hour)
	s.Cursor = schedule.Cursor{Due: byHand.Due, FireAt: time.Now().Add(-time.Second)}
	if _, err := store.PutSchedule(t.Context(), s, true); err != nil {
		t.Fatal(err)
	}
	if ticked, err := store.Tick(t.Context(), 1, stay(&got)); err != nil || ticked.Schedules != 1 || ticked.Next != 0 {
		t.Fatalf("a tick did %+v: %v", ticked, err)
	}
}

// A run that is made later has the larger id, whichever process makes it and
// whatever ids that has in store.
func TestRunsOfSeveralProcessesStayInOrder(t *testing.T) {
	at := migrated.Postgres(t)
	first, second := open(t, at, Options{}), open(t, at, Options{})
	for _, store := range []*Store{first, second} { // both take a block of ids
		if err := store.Enqueue(t.Context(), []*fairlead.Job{newJob(t)}); err != nil {
			t.Fatal(err)
		}
	}
	schedule := planned(t, first, "s")
	var made []int64
	for i := range 6 {
		fires, _ := fireNow(t, []*Store{first, second}[(i+1)%2], schedule.ID, byHand, byHand)
		made = append(made, fires[0].Job, fires[1].Job)
	}
	_, view := fireNow(t, first, schedule.ID)
	var active []int64
	for _, fire := range view.Active {
		active = append(active, fire.Job)
	}
	if !slices.IsSorted(made) || !slices.Equal(active, made) {
		t.Fatalf("runs were made as %v and are listed as %v", made, active)
	}
}

// Nothing that happens under the lock of a schedule takes a second connection.
func TestActsOnOneConnection(t *testing.T) {
	store := open(t, withParams(t, migrated.Postgres(t), "pool_max_conns", "1"), Options{QueryTimeout: time.Minute, ListenURL: noListening})
	if _, err := store.PutTenant(t.Context(), fairlead.Tenant{Name: "full", MaxPending: 1}); err != nil {
		t.Fatal(err)
	}
	schedule := planned(t, store, "s", func(j *fairlead.Job) { j.Tenant, j.Key = "full", "k" })
	store.pending.Forget()
	fires, _ := fireNow(t, store, schedule.ID, byHand, byHand)
	if fires[0].State != fairlead.Ready || fires[1].State != fairlead.Failed {
		t.Fatalf("runs were made as %v and %v", fires[0].State, fires[1].State)
	}
	var got []string
	if _, err := store.Tick(t.Context(), 10, stay(&got)); err != nil || !slices.Equal(got, []string{"s"}) {
		t.Fatalf("a tick saw %v: %v", got, err)
	}
}
