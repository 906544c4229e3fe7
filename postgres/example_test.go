package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx" of database/sql

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/postgres"
)

// ShipOrder is the kind of the jobs in the examples.
var ShipOrder = fairlead.NewKind[int64]("order.ship")

// Open a store. The first call creates its tables.
func ExampleOpen() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, "postgres://app:secret@localhost:5432/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := fairlead.NewClient(store).Enqueue(ctx, ShipOrder.Job(7)); err != nil {
		log.Fatal(err)
	}
}

// Open a store in a schema of its own, through PgBouncer in transaction mode. The tables
// were created beforehand with fairlead migrate up.
func ExampleOpenWith() {
	store, err := postgres.OpenWith(context.Background(), "postgres://app@pgbouncer:6432/shop", postgres.Options{
		Schema:    "jobs",
		NoMigrate: true,
		ListenURL: "postgres://app@postgres:5432/shop", // the server itself
		Waiting:   func(whom string) { log.Print("waiting for ", whom) },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
}

// Store an order and enqueue its job in one pgx transaction: both exist, or neither does.
func ExampleStore_Tx() {
	ctx := context.Background()
	url := os.Getenv("DATABASE_URL")
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	store, err := postgres.New(ctx, pool)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	tx, err := pool.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // has no effect after the commit
	var order int64
	if err := tx.QueryRow(ctx, "insert into orders (item) values ($1) returning id", "kite").Scan(&order); err != nil {
		log.Fatal(err)
	}
	jobs := fairlead.NewClient(store).Within(store.Tx(tx))
	if err := jobs.Enqueue(ctx, ShipOrder.Job(order)); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	jobs.Wake() // starts the job a few milliseconds earlier
	fmt.Println("order", order)
}

// Store an order and enqueue its job in one database/sql transaction.
func ExampleStore_SQLTx() {
	ctx := context.Background()
	url := os.Getenv("DATABASE_URL")
	store, err := postgres.Open(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("pgx", url) // the program's own connections
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // has no effect after the commit
	var order int64
	if err := tx.QueryRowContext(ctx, "insert into orders (item) values ($1) returning id", "kite").Scan(&order); err != nil {
		log.Fatal(err)
	}
	if err := fairlead.NewClient(store).Within(store.SQLTx(tx)).Enqueue(ctx, ShipOrder.Job(order)); err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
}
