// Package fairlead is a distributed scheduler for durable work on the SQL database that
// you already run: SQLite, PostgreSQL, MySQL or MariaDB, and nothing else.
//
//	var SendInvoice = fairlead.NewKind[Invoice]("invoice.send") // declared once, shared by both sides
//
//	store, err := postgres.Open(ctx, url)                       // or mysql.Open, sqlite.Open
//	client := fairlead.NewClient(store)
//	err = client.Enqueue(ctx, SendInvoice.Job(Invoice{ID: 7}))  // durable when it returns
//
//	mux := fairlead.NewMux()
//	SendInvoice.Handle(mux, func(ctx context.Context, job *fairlead.Job, in Invoice) error {
//		return send(ctx, in)                                    // nil succeeds, an error is retried
//	})
//	err = engine.Run(ctx, store, mux, engine.Options{})         // a node, until ctx ends
//
// # The life of a job
//
//	            Enqueue                       Enqueue, due later
//	               │                                  │
//	               ▼              due                 ▼
//	  ┌──────── ready ◄──────────────────────── scheduled ◄────┐
//	  │            │                                           │
//	  │            │ claimed by a node                         │ failed attempt,
//	  │            ▼        released, node died → ready        │ snooze
//	  │        running ────────────────────────────────────────┤
//	  │            │   │                                       │
//	  │            │   └── Await ──► waiting ─── answer ───────┤
//	  │ Cancel     │                    │                      │
//	  ▼            ▼                    ▼ answer, deadline     │
//	cancelled   succeeded, failed, cancelled ── Retry ──► ready
//
// A due job whose gate is full (see Job.ConcurrencyKey) is parked before it is ready.
//
// # Guarantees
//
//   - A job runs at least once, and never under two live leases at a time.
//   - A lease is a short transaction that gives a job to a node under a fence, a
//     number that grows with each claim. No transaction and no connection is
//     held while a handler runs.
//   - Every later write about the run names its fence and changes nothing if a
//     newer one exists: the store refuses the late result of a node that was
//     taken for dead.
//   - Due times and leases follow the database's clock.
//   - Exactly-once effects need the handler's own transaction:
//     [TxClient.Enqueue] and [TxClient.Complete] take part in it.
//
// # Where to look
//
// To enqueue and manage jobs, start with [Client], [Job] and its [State]s. To run jobs,
// start with [Kind], [Handler] and [Mux], and with the outcomes that a handler can
// return: [Fatal], [RetryAt], [SnoozeFor], [Replace], [Await] and [Release].
//
// Everything that runs is a job. Packages schedule, batch and sweep only decide which
// jobs exist. Package engine runs a node. Package worker runs jobs in a program that
// can reach the service but not its database. Package fairleadtest helps to test
// programs. To implement a store, start with package driver.
package fairlead
