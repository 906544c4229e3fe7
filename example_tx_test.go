package fairlead_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver of the program's own connection

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Enqueue a job inside the program's own transaction. The job exists if and only if the
// transaction commits.
func ExampleClient_Within() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "fairlead-example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "shop.db")
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client := fairlead.NewClient(store)

	db, err := sql.Open("sqlite", file) // the shop's own tables are in the same file
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "create table orders (id integer primary key, total integer)"); err != nil {
		log.Fatal(err)
	}

	placeOrder := func(total int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after the commit
		result, err := tx.ExecContext(ctx, "insert into orders (total) values (?)", total)
		if err != nil {
			return err
		}
		id, err := result.LastInsertId()
		if err != nil {
			return err
		}
		jobs := client.Within(store.Tx(tx))
		if err := jobs.Enqueue(ctx, SendInvoice.Job(Invoice{ID: int(id)})); err != nil {
			return err
		}
		if total > 1000 {
			return fmt.Errorf("an order of %d needs approval", total) // rolls back the order and its job
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		jobs.Wake() // nodes need not wait for their next poll
		return nil
	}

	fmt.Println(placeOrder(20))
	fmt.Println(placeOrder(5000))
	tally, err := client.Tally(ctx, fairlead.Filter{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("jobs ready:", tally[fairlead.Ready])
	// Output:
	// <nil>
	// an order of 5000 needs approval
	// jobs ready: 1
}
