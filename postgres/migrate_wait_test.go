package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
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

func TestAMigrationTakesLongerThanAQueryMay(t *testing.T) {
	s, err := OpenWith(t.Context(), testdb.Postgres(t), Options{SchemaOnly: true, QueryTimeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.migrations = append(s.migrations, sqlstore.Migration{Version: len(s.migrations) + 1, Name: "slow", Steps: []string{"select pg_sleep(5)"}})
	schema, err := s.Migrate(t.Context())
	if err != nil || schema.Current != len(s.migrations) {
		t.Errorf("%+v, %v", schema, err)
	}
}

func TestAMigrationEndsWithItsContext(t *testing.T) {
	s, err := OpenWith(t.Context(), testdb.Postgres(t), Options{SchemaOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.migrations = []sqlstore.Migration{{Version: 1, Name: "endless", Steps: []string{"select pg_sleep(100000)"}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Migrate(ctx); err == nil || ctx.Err() == nil {
		t.Errorf("it ended with %v", err)
	}
}
