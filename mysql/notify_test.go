package mysql_test

import (
	"net"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/mysql"
)

// Two stores on one database stand for two processes.
func TestProcessesWakeEachOther(t *testing.T) {
	url := mysql.Migrated.MySQL(t)
	here, there := openFor(t, url), openFor(t, url)
	scope := &driver.Scope{Kinds: []string{"k"}}
	wakes := make(chan driver.Wake, 100)
	go func() {
		if err := here.Listen(t.Context(), scope, func(w driver.Wake) { wakes <- w }); err != nil {
			t.Error(err)
		}
	}()
	// The listener has registered when it tells of what was missed before.
	for range 3 {
		next(t, wakes)
	}
	client := fairlead.NewClient(there)
	if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	if w := next(t, wakes); w != driver.WakeWork {
		t.Errorf("woken for %v, want work", w)
	}
	if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k", NotBefore: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if w := next(t, wakes); w != driver.WakeLater {
		t.Errorf("woken for %v, want later", w)
	}
}

// Who cannot read the database cannot make nodes look for work.
func TestForgedWakesAreIgnored(t *testing.T) {
	url := mysql.Migrated.MySQL(t)
	port, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := port.LocalAddr().String()
	_ = port.Close()
	store, err := mysql.OpenWith(t.Context(), url, mysql.Options{WakeAddr: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	wakes := make(chan driver.Wake, 100)
	go func() {
		_ = store.Listen(t.Context(), &driver.Scope{Kinds: []string{"k"}}, func(w driver.Wake) { wakes <- w })
	}()
	for range 3 { // what was missed before
		next(t, wakes)
	}
	forger, err := (&net.Dialer{}).DialContext(t.Context(), "udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer forger.Close()
	for _, message := range []string{"", "x", "abcdefgh *", "0011223344556677 abcdefgh *", "0011223344556677 abcdefgh cancel"} {
		if _, err := forger.Write([]byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	// What comes after them is heard, and nothing before it.
	other := openFor(t, url)
	if err := fairlead.NewClient(other).Enqueue(t.Context(), &fairlead.Job{Kind: "k", NotBefore: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if w := next(t, wakes); w != driver.WakeLater {
		t.Errorf("woken for %v, want later", w)
	}
}

// A rate lets the next job start by the clock: no other process sends a wake for it.
func TestWokenForTheNextToken(t *testing.T) {
	store := openFor(t, mysql.Migrated.MySQL(t))
	if err := store.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 4, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	enqueue(t, store, &fairlead.Job{Kind: "k"})
	enqueue(t, store, &fairlead.Job{Kind: "k", Tenant: "other"})
	scope := &driver.Scope{Kinds: []string{"k"}}
	wakes := make(chan driver.Wake, 100)
	go func() { _ = store.Listen(t.Context(), scope, func(w driver.Wake) { wakes <- w }) }()
	for range 3 { // what was missed before
		next(t, wakes)
	}
	claim := driver.Claim{Node: join(t, store), Scope: scope, Max: 2}
	for i := range 2 {
		if i > 0 && next(t, wakes) != driver.WakeWork {
			t.Error("woken for something else than work")
		}
		jobs, err := store.Claim(t.Context(), claim)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claimed %v, %v, want the one job there is a token for", jobs, err)
		}
	}
}

func openFor(t *testing.T, url string) *mysql.Store {
	t.Helper()
	store, err := mysql.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// next waits for the next wake, but for the one that says that the store listens.
func next(t *testing.T, wakes <-chan driver.Wake) driver.Wake {
	t.Helper()
	for timeout := time.After(patience.Limit); ; {
		select {
		case w := <-wakes:
			if w != driver.WakeListening {
				return w
			}
		case <-timeout:
			t.Fatal("not woken")
		}
	}
}
