package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
)

// caller is a program whose handlers use transactions of its own on the database of its
// store.
type caller struct {
	*testing.T
	store driver.Store
	db    *sql.DB
	in    func(tx *sql.Tx) driver.Tx

	mu   sync.Mutex
	open []*sql.Tx
}

// callers are programs on each database that has more than one writer.
func callers(t *testing.T, test func(c *caller)) {
	t.Run("PostgreSQL", func(t *testing.T) {
		at := testdb.Postgres(t)
		store, err := postgres.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		test(newCaller(t, store, "pgx", at, store.SQLTx))
	})
	t.Run("MariaDB", func(t *testing.T) {
		at := testdb.MySQL(t)
		store, err := mysql.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		config, err := mysqlurl.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		test(newCaller(t, store, "mysql", config.FormatDSN(), store.Tx))
	})
}

func newCaller(t *testing.T, store driver.Store, driverName, at string, in func(tx *sql.Tx) driver.Tx) *caller {
	t.Helper()
	db, err := sql.Open(driverName, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = db.Close()
		_ = store.Close()
	})
	return &caller{T: t, store: store, db: db, in: in}
}

// complete completes the job in a transaction and leaves that open.
func (c *caller) complete(ctx context.Context, job *fairlead.Job) error {
	tx, err := c.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	if err := fairlead.NewClient(c.store).Within(c.in(tx)).Complete(ctx, job, []byte(`"in the transaction"`)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, tx)
	return nil
}

// opened returns the open transactions.
func (c *caller) opened() []*sql.Tx {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// run runs a node while during runs.
func (c *caller) run(log *lockedText, during func(client *fairlead.Client)) {
	c.Helper()
	mux := fairlead.NewMux()
	mux.Handle("careless", fairlead.HandlerOptions{}, fairlead.HandlerFunc(c.complete))
	mux.Handle("plain", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(c.store, mux, engine.Options{Name: "n", Slots: 8, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		c.Fatal(err)
	}
	ctx, stop := context.WithCancel(c.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			c.Errorf("the node ended with %v", err)
		}
	}()
	during(fairlead.NewClient(c.store))
}

// lockedText is a log.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// until waits until something holds.
func (c *caller) until(what string, holds func() bool) {
	c.Helper()
	for deadline := time.Now().Add(patience.Limit); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("%s: not within %v", what, patience.Limit)
		}
	}
}

// jobs enqueues jobs of a kind.
func (c *caller) jobs(client *fairlead.Client, kind string, n int) []*fairlead.Job {
	c.Helper()
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: kind}
	}
	if err := client.Enqueue(c.Context(), jobs...); err != nil {
		c.Fatal(err)
	}
	return jobs
}

// succeeded counts the jobs of a kind that have succeeded.
func (c *caller) succeeded(client *fairlead.Client, kind string) int64 {
	c.Helper()
	tally, err := client.Tally(c.Context(), fairlead.Filter{Kinds: []string{kind}})
	if err != nil {
		c.Fatal(err)
	}
	return tally[fairlead.Succeeded]
}

func TestOpenTransactionsOfHandlersLeaveTheRestOfTheNodeRunning(t *testing.T) {
	const careless, others = 3, 200
	callers(t, func(c *caller) {
		log := &lockedText{}
		c.run(log, func(client *fairlead.Client) {
			held := c.jobs(client, "careless", careless)
			c.until("the handlers leave their transactions open", func() bool { return len(c.opened()) == careless })
			c.jobs(client, "plain", others)
			c.until("the other jobs succeed", func() bool { return c.succeeded(client, "plain") == others })
			c.until("the log names the jobs", func() bool {
				for _, job := range held {
					if !strings.Contains(log.String(), fmt.Sprintf("job=%d kind=careless", job.ID)) {
						return false
					}
				}
				return true
			})
			if n := c.succeeded(client, "careless"); n != 0 {
				t.Errorf("%d jobs have succeeded whose transactions are open", n)
			}
			for i, tx := range c.opened() { // the first commits, the others roll back
				end := tx.Rollback
				if i == 0 {
					end = tx.Commit
				}
				if err := end(); err != nil {
					t.Error(err)
				}
			}
			c.until("the jobs succeed whose transactions have ended", func() bool { return c.succeeded(client, "careless") == careless })
			outputs := 0
			for _, job := range held {
				done, err := client.Get(t.Context(), job.ID)
				if err != nil || done.Attempt != 1 {
					t.Errorf("job %d: %+v, %v", job.ID, done, err)
				}
				if len(done.Output) > 0 {
					outputs++
				}
			}
			if outputs != 1 {
				t.Errorf("%d jobs have the output of their transaction, want 1", outputs)
			}
		})
		if strings.Contains(log.String(), "late result rejected") {
			t.Errorf("the node takes a completed job for a lost one:\n%s", log)
		}
	})
}

// rollBack ends the open transactions.
func (c *caller) rollBack() {
	c.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tx := range c.open {
		if err := tx.Rollback(); err != nil {
			c.Error(err)
		}
	}
	c.open = nil
}
