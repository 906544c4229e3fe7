package postgres

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// hear listens with a store that does nothing else, and returns when its
// connection is up.
func hear(t *testing.T, store *Store) chan driver.Wake {
	t.Helper()
	wakes := make(chan driver.Wake, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = store.Listen(ctx, &driver.Scope{Kinds: []string{"test"}}, func(wake driver.Wake) { wakes <- wake })
	}()
	t.Cleanup(func() { cancel(); <-done })
	waitFor(t, wakes, driver.WakeWork) // the last wake of a new connection
	return wakes
}

func drain(wakes chan driver.Wake) {
	for len(wakes) > 0 {
		<-wakes
	}
}

func waitFor(t *testing.T, wakes chan driver.Wake, want driver.Wake) {
	t.Helper()
	given := time.After(patience.Limit)
	for {
		select {
		case wake := <-wakes:
			if wake == want {
				return
			}
		case <-given:
			t.Fatalf("no wake %v came", want)
		}
	}
}

func TestOtherProcessesAreWoken(t *testing.T) {
	at := migrated.Postgres(t)
	here, there := open(t, at, Options{}), open(t, at, Options{})
	wakes := hear(t, there)
	if err := here.Enqueue(t.Context(), []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.Tenant = "unheard of" })}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, wakes, driver.WakeWork)
	if err := here.Enqueue(t.Context(), []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.NotBefore = time.Now().Add(time.Hour) })}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, wakes, driver.WakeLater)
	node, err := here.Join(t.Context(), fairlead.Node{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := here.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"test"}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("claimed %v, %v", jobs, err)
	}
	if err := here.Cancel(t.Context(), jobs[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	waitFor(t, wakes, driver.WakeCancel)
}

func TestThoseWhoServeOtherKindsAreNotWoken(t *testing.T) {
	at := migrated.Postgres(t)
	here, there := open(t, at, Options{}), open(t, at, Options{})
	wakes := hear(t, there)
	if err := here.Enqueue(t.Context(), []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.Kind = "other" })}); err != nil {
		t.Fatal(err)
	}
	if err := here.Enqueue(t.Context(), []*fairlead.Job{newJob(t, func(j *fairlead.Job) { j.NotBefore = time.Now().Add(time.Hour); j.Kind = "other" })}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, wakes, driver.WakeLater) // which came after
	for len(wakes) > 0 {
		if wake := <-wakes; wake == driver.WakeWork {
			t.Fatal("it was woken for another kind's work")
		}
	}
}

func TestListeningGoesOnAfterTheConnectionWasLost(t *testing.T) {
	at := migrated.Postgres(t)
	here, there := open(t, at, Options{}), open(t, at, Options{})
	wakes := hear(t, there)
	exec(t, at, "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and datname = current_database()")
	waitFor(t, wakes, driver.WakeWork) // what may have been missed
	drain(wakes)
	if err := here.Enqueue(t.Context(), []*fairlead.Job{newJob(t)}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, wakes, driver.WakeWork)
}

func TestNewsSurviveTheirEncoding(t *testing.T) {
	many := wakes{}
	for lane := range int32(notifyLanes + 1) {
		many.add(wakes{lanes: map[int32]bool{lane: false}})
	}
	if !many.all || many.lanes != nil {
		t.Fatal("too many lanes are not all lanes")
	}
	for _, n := range []wakes{
		{lanes: map[int32]bool{1: false, 77: true}},
		{lanes: map[int32]bool{}, all: true},
		{lanes: map[int32]bool{5: false}, freed: true},
		{lanes: map[int32]bool{3: true}, later: true, cancel: true},
	} {
		if got := decodeWakes(strings.Fields(n.encode())); !reflect.DeepEqual(got, n) {
			t.Errorf("%+v came back as %+v", n, got)
		}
	}
	if n := decodeWakes([]string{"gibberish"}); !n.all {
		t.Error("what is not understood must mean everything")
	}
}
