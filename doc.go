// Package fairlead is a distributed scheduler for durable work, on the SQL
// database you already run: SQLite, PostgreSQL, MySQL or MariaDB, and nothing
// else.
//
//	var SendInvoice = fairlead.NewKind[Invoice]("invoice.send") // declared once, shared by both sides
//
//	store, err := postgres.Open(ctx, url)                       // or mysql.Open, sqlite.Open
//	client := fairlead.NewClient(store)
//	err = client.Enqueue(ctx, SendInvoice.Job(Invoice{ID: 7}))  // durable when it returns
//
//	mux := fairlead.NewMux()
//	SendInvoice.Handle(mux, func(ctx context.Context, job *fairlead.Job, in Invoice) error {
//		return send(ctx, in)                                    // nil succeeds, an error is tried again
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
// # What is guaranteed
//
//   - A job runs at least once, and never under two live leases at a time.
//   - A lease is a short transaction that gives a job to a node under a fence, a
//     number that grows with each claim. No transaction and no connection is
//     held while a handler runs.
//   - Every later write about the run names its fence and changes nothing if a
//     newer one exists: the late result of a node that was taken for dead is
//     refused.
//   - Due times and leases are judged by the database's clock.
//   - Exactly-once effects need the handler's own transaction:
//     [TxClient.Enqueue] and [TxClient.Complete] take part in it.
//
// # Where to look
//
// [Job] and its [State]s; [Kind], [Handler] and [Mux] for those who run jobs;
// [Client] for those who make and manage them; the outcomes [Fatal], [RetryAt],
// [SnoozeFor], [Replace], [Await], [Release].
//
// Everything that runs is a job. Packages schedule, batch and sweep only decide which jobs
// exist. Package engine is a node, worker one that knows the service and no database;
// fairleadtest helps your tests. Those who write a store begin with package driver.
package fairlead
