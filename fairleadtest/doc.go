// Package fairleadtest helps to test programs that use Fairlead.
//
// # Step by step
//
// New returns a node on a private in-memory database. The test controls the node's clock,
// and the node runs jobs only on request:
//
//	node := fairleadtest.New(t, mux)
//	signUp(ctx, node.Client, "ada@example.org")
//	fairleadtest.RequireEnqueued(t, node, SendWelcome, func(w Welcome) bool { return w.To == "ada@example.org" })
//	node.Drain()
//
// Schedules, batches and sweeps work too. RunFor moves the clock from one due instant to
// the next:
//
//	node.Schedules.Put(ctx, schedule.Schedule{Name: "nightly", Cron: "0 3 * * *", Job: *Report.Job(ReportArgs{})})
//	runs := node.RunFor(7 * 24 * time.Hour) // seven
//
//	b, err := node.Batches.Start(ctx, batch.Batch{Name: "sale", Type: "reprice"}, changes...)
//	node.Drain()
//
// Registering a handler of items requires the store, so open it first with SQLite:
//
//	store, clock := fairleadtest.SQLite(t)
//	items.Handle(mux, store, "mail", items.Options{}, mail)
//	node := fairleadtest.NewOn(t, store, clock, mux)
//
// # On PostgreSQL, MySQL and MariaDB
//
// Packages pgtest and mysqltest open stores on a real server. Each test has its own tables,
// which are removed after the test, and controls the stores' clock. The program's own
// transactions, such as a pgx.Tx, work on such a store:
//
//	store, clock := pgtest.Open(t, os.Getenv("TEST_DATABASE_URL"))
//	node := fairleadtest.NewOn(t, store, clock, mux)
//	tx, err := pool.Begin(ctx)
//	err = fairlead.NewClient(store).Within(store.Tx(tx)).Enqueue(ctx, SendWelcome.Job(Welcome{To: "ada@example.org"}))
//	err = tx.Commit(ctx)
//	node.Work()
//
// # In virtual time
//
// Virtual runs a complete node in a testing/synctest bubble: its loops, timeouts, retries
// and rates are those of production, and an hour passes in a fraction of a second.
//
//	fairleadtest.Virtual(t, register, func(node *fairleadtest.VirtualNode) {
//		node.Sweeps.Start(ctx, "mail-all", "")
//		node.Pass(time.Hour)
//	})
package fairleadtest
