package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Open a store in a file, which is created if it does not exist.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fairlead")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := sqlite.Open(ctx, filepath.Join(dir, "jobs.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client := fairlead.NewClient(store)
	if err := client.Enqueue(ctx, fairlead.NewKind[string]("greet").Job("Ada")); err != nil {
		log.Fatal(err)
	}
	tally, err := client.Tally(ctx, fairlead.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tally)
	// Output:
	// map[ready:1]
}

// Open a store for one process that may lose its latest commits in a power failure. It
// writes faster and does not check for changes by other processes.
func ExampleOpenWith() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fairlead")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := sqlite.OpenWith(ctx, filepath.Join(dir, "jobs.db"), sqlite.Options{Synchronous: "normal", Poll: -1})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	schema, err := store.Schema(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("current:", schema.Current == schema.Latest)
	// Output:
	// current: true
}

// Store an order and enqueue its job in one transaction: both exist, or neither does.
func ExampleStore_Tx() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client := fairlead.NewClient(store)
	ship := fairlead.NewKind[int64]("order.ship")
	if _, err := store.DB().ExecContext(ctx, "create table orders (id integer primary key, item text)"); err != nil {
		log.Fatal(err)
	}

	tx, err := store.DB().BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // has no effect after the commit
	result, err := tx.ExecContext(ctx, "insert into orders (item) values (?)", "kite")
	if err != nil {
		log.Fatal(err)
	}
	order, err := result.LastInsertId()
	if err != nil {
		log.Fatal(err)
	}
	job := ship.Job(order)
	if err := client.Within(store.Tx(tx)).Enqueue(ctx, job); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}

	stored, err := client.Get(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored.Kind, string(stored.Args), stored.State)
	// Output:
	// order.ship 1 ready
}
