package mysql_test

import (
	"context"
	"database/sql"
	"log"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql" of database/sql

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/mysql"
)

// ShipOrder is the kind of the jobs in the examples.
var ShipOrder = fairlead.NewKind[int64]("order.ship")

// Open a store. The first call creates its tables.
func ExampleOpen() {
	ctx := context.Background()
	store, err := mysql.Open(ctx, "mysql://app:secret@localhost:3306/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := fairlead.NewClient(store).Enqueue(ctx, ShipOrder.Job(7)); err != nil {
		log.Fatal(err)
	}
}

// Open a store for nodes on several machines, which notify each other of new jobs. The
// tables were created beforehand with fairlead migrate up.
func ExampleOpenWith() {
	store, err := mysql.OpenWith(context.Background(), "mysql://app:secret@mariadb:3306/shop?tls=true", mysql.Options{
		NoMigrate:    true,
		QueryTimeout: 10 * time.Second,
		MaxConns:     32,
		WakeAddr:     "10.0.0.5:0", // an address of this machine that the other machines can reach
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// Store an order and enqueue its job in one transaction: both exist, or neither does.
func ExampleStore_Tx() {
	ctx := context.Background()
	store, err := mysql.Open(ctx, "mysql://app:secret@localhost:3306/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("mysql", "app:secret@tcp(localhost:3306)/shop") // the program's own connections
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	tx, err := db.BeginTx(ctx, nil)
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
	jobs := fairlead.NewClient(store).Within(store.Tx(tx))
	if err := jobs.Enqueue(ctx, ShipOrder.Job(order)); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	jobs.Wake() // starts the job a few milliseconds earlier
}
