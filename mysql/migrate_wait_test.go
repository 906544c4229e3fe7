package mysql

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestAStartThatWaitsForTheMigrationLockSaysForWhom(t *testing.T) {
	url := testdb.MySQL(t)
	other, err := OpenWith(t.Context(), url, Options{SchemaOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	holder := migrationTarget{Store: other, conn: conn}
	if err := holder.lock(t.Context()); err != nil {
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
		if !strings.Contains(whom, "another process that migrates: connection ") || !strings.Contains(whom, `of user "root"`) {
			t.Errorf("it waits for %s", whom)
		}
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(patience.Limit):
		t.Fatal("it does not say for whom it waits")
	}
	if err := holder.unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestAMigrationTakesLongerThanAQueryMay(t *testing.T) {
	s, err := OpenWith(t.Context(), testdb.MySQL(t), Options{SchemaOnly: true, QueryTimeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.migratePatience = time.Nanosecond // it is for tables that others use
	s.schema = append(s.schema, sqlstore.Migration{Version: len(s.schema) + 1, Name: "slow", Steps: []string{"do sleep(5)"}})
	schema, err := s.Migrate(t.Context())
	if err != nil || schema.Current != len(s.schema) {
		t.Errorf("%+v, %v", schema, err)
	}
}

func TestAMigrationEndsWithItsContext(t *testing.T) {
	s, err := OpenWith(t.Context(), testdb.MySQL(t), Options{SchemaOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.schema = []sqlstore.Migration{{Version: 1, Name: "endless", Steps: []string{"do sleep(100000)"}}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Migrate(ctx); err == nil || ctx.Err() == nil {
		t.Errorf("it ended with %v", err)
	}
}
