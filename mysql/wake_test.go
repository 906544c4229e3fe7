package mysql_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
)

// Two stores on one database stand for two processes.
func TestProcessesWakeEachOther(t *testing.T) {
	url := testdb.MySQL(t)
	here, there := openFor(t, url), openFor(t, url)
	scope := &fairlead.Scope{Kinds: []string{"k"}}
	wakes := make(chan fairlead.Wake, 100)
	go func() {
		if err := here.Listen(t.Context(), scope, func(w fairlead.Wake) { wakes <- w }); err != nil {
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
	if w := next(t, wakes); w != fairlead.WakeWork {
		t.Errorf("woken for %v, want work", w)
	}
	if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k", NotBefore: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if w := next(t, wakes); w != fairlead.WakeLater {
		t.Errorf("woken for %v, want later", w)
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

func next(t *testing.T, wakes <-chan fairlead.Wake) fairlead.Wake {
	t.Helper()
	select {
	case w := <-wakes:
		return w
	case <-time.After(10 * time.Second):
		t.Fatal("not woken")
		return 0
	}
}
