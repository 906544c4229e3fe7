package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestAStartThatWaitsForTheMigrationLockSaysForWhom(t *testing.T) {
	url := testdb.Postgres(t)
	holder, err := pgx.Connect(t.Context(), url+"&application_name=other-node")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(t.Context()) }()
	if _, err := holder.Exec(t.Context(), "select pg_advisory_lock($1)", lockKey("public", "", "migrate")); err != nil {
		t.Fatal(err)
	}
	said, opened := make(chan string, 1), make(chan error, 1)
	go func() {
		store, err := OpenWith(t.Context(), url, Options{Waiting: func(whom string) { said <- whom }})
		if err == nil {
			err = store.Close()
		}
		opened <- err
	}()
	select {
	case whom := <-said:
		if !strings.Contains(whom, "another process that migrates") || !strings.Contains(whom, `"other-node"`) {
			t.Errorf("it waits for %s", whom)
		}
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(patience.Limit):
		t.Fatal("it does not say for whom it waits")
	}
	if _, err := holder.Exec(t.Context(), "select pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}
