package sim

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Capabilities.
const (
	slowHandler    = "handler is slow"
	snoozed        = "handler snoozes"
	progressed     = "handler reports progress and remembers"
	awaited        = "handler awaits an answer"
	extended       = "wait is extended"
	replacedItself = "handler replaces its job"
	released       = "handler releases its job"
	completedInTx  = "job is completed in a transaction"
	committedTx    = "transaction is committed"
	rolledBackTx   = "transaction is rolled back"
	taskFailed     = "task of a batch fails"
	itemFailed     = "item of a sweep fails"

	enqueued     = "job is enqueued"
	enqueuedOnce = "job is enqueued once"
	withKey      = "unique key"
	withGate     = "concurrency key"
	withTenant   = "tenant with a cap"
	delayed      = "delayed job"
	cancelled    = "job is cancelled"
	reopened     = "job is retried by an operator"
	moved        = "job is moved, rescheduled or prioritized"
	deleted      = "job is deleted"
	pausedSome   = "queue, kind or tenant is paused"
	limitChanged = "limit changes"
	drainedNode  = "node is drained"

	batchStarted    = "batch"
	batchCancelled  = "batch is cancelled"
	batchRolledBack = "batch is rolled back"
	sweepStarted    = "sweep"
	sweepStopped    = "sweep is stopped and started again"
	bulkStarted     = "bulk"
	fired           = "run of a schedule"
	firedSkip       = "run of a schedule is skipped"
	caughtUp        = "missed instant is caught up"
	triggered       = "schedule is triggered"
)

// capabilities lists all that a run of many seeds has to use.
var capabilities = []string{
	slowHandler, snoozed, progressed, awaited, extended, replacedItself, released, completedInTx, committedTx, rolledBackTx, taskFailed, itemFailed,
	enqueued, enqueuedOnce, withKey, withGate, withTenant, delayed, cancelled, reopened, moved, deleted, pausedSome, limitChanged, drainedNode,
	batchStarted, batchCancelled, batchRolledBack, sweepStarted, sweepStopped, bulkStarted, fired, firedSkip, caughtUp, triggered,
}

// A book lists the promises that callers have received. The mutex of the world guards it.
type book struct {
	acknowledged map[int64]promise
	once         map[string]int64 // jobs by request
	kept         map[uint64]int64 // jobs, by errand, of committed transactions, without unique keys
	undone       map[uint64]bool  // errands of transactions that were rolled back
	completed    map[int64]bool   // jobs that a handler has completed in its own transaction
	touched      map[int64]bool   // jobs with a request to cancel them
	replaceable  map[int64]bool   // runs that their schedule may end while they run
	mayVanish    map[int64]bool   // jobs with a request to delete them
	anyCancelled bool             // a bulk has cancelled jobs
	anyDeleted   bool             // a bulk has deleted jobs
	batches      []int64
	sweeps       []int64
	bulks        []int64
	schedules    []schedule.Schedule
	cap          int // of the kind capped
}

// promise describes an acknowledged job.
type promise struct {
	kind, tenant string
	due          time.Time
}

func newBook() book {
	return book{
		acknowledged: map[int64]promise{}, once: map[string]int64{}, kept: map[uint64]int64{}, undone: map[uint64]bool{},
		completed: map[int64]bool{}, touched: map[int64]bool{},
		mayVanish: map[int64]bool{}, replaceable: map[int64]bool{},
	}
}

// enter changes the book.
func (w *world) enter(change func(b *book)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.book)
}

// Limits.
const (
	placesPerKey = 2
	tenantCap    = 2
	firstCap     = 3
	globalCap    = 14
)

// Names of tenants and queues.
const (
	bounded = "bounded" // a tenant with a cap
	free    = "free"    // a tenant without
	side    = "side"    // a queue
)

// cancellingErrand is the errand of the runs of the last schedule, which end earlier ones.
const cancellingErrand = 3

// plan declares limits, tenants and schedules, before any call can fail.
func (w *world) plan() {
	ctx := context.Background()
	client, schedules := fairlead.NewClient(w.store), schedule.NewClient(w.store)
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: gated.Name(), PerKey: placesPerKey}))
	must(client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: capped.Name(), MaxRunning: firstCap}))
	must(client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: globalCap}))
	must(client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitQueue, Name: side, Order: fairlead.OrderFair, Rate: 5}))
	_, err := client.PutTenant(ctx, fairlead.Tenant{Name: bounded, MaxRunning: tenantCap})
	must(err)
	_, err = client.PutTenant(ctx, fairlead.Tenant{Name: free, Weight: 3, MinRunning: 1})
	must(err)
	w.book.cap = firstCap
	begin := time.Now().Truncate(time.Second).Add(2 * time.Second)
	for i, s := range []schedule.Schedule{
		{Name: "full", Every: 5 * time.Second, CatchUp: schedule.CatchUpFull},
		{Name: "skipping", Cron: "*/4 * * * * *", CatchUp: schedule.CatchUpFull, Overlap: schedule.OverlapSkip},
		{Name: "queueing", Every: 6 * time.Second, CatchUp: schedule.CatchUpFull, MaxConcurrency: 1, Concurrency: schedule.ConcurrencyQueue},
		{Name: "cancelling", Cron: "*/7 * * * * *", CatchUp: schedule.CatchUpFull, Overlap: schedule.OverlapCancel},
	} {
		s.StartsAt, s.EndsAt, s.Job = begin, w.ends.Truncate(time.Second), *w.errandOf(uint64(i))
		put, err := schedules.Put(ctx, s)
		must(err)
		w.book.schedules = append(w.book.schedules, put)
	}
	w.responder = &passing{Store: w.store, w: w, p: w.peer("r")}
}
