package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

const (
	steadyPlaces = 2 // of each gate of kind "steady"
	mostPlaces   = 4 // of each gate of kind "changing", at times
)

// TestGatesHoldInAStorm lets many enqueue, run and push around jobs behind a few
// gates, whose places change meanwhile, and looks again and again whether they
// are exceeded. In the end no job may be left behind.
func TestGatesHoldInAStorm(t *testing.T) {
	const workers = 6
	rounds := tier.Size(t, 5, 60, "storms for longer")
	ctx, address := t.Context(), mysql.Migrated.MySQL(t)
	stores := []*mysql.Store{openStore(t, address, mysql.Options{}), openStore(t, address, mysql.Options{})}
	storm := &gateStorm{T: t, stores: stores, callers: rawDB(t, address, nil)}
	if err := stores[0].SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "steady", PerKey: steadyPlaces}); err != nil {
		t.Fatal(err)
	}
	stop, done := context.WithCancel(ctx)
	var watchers, all sync.WaitGroup
	watchers.Go(func() { storm.changePlaces(stop) })
	watchers.Go(func() { storm.check(stop) })
	for i := range workers {
		all.Go(func() {
			w := &gateWorker{gateStorm: storm, store: stores[i%2], random: rand.New(rand.NewPCG(uint64(i), 11)), node: join(t, stores[i%2])}
			if err := w.work(rounds); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	done()
	watchers.Wait()
	promote(t, stores[0])
	wantNoGates(t, storm.callers)
	t.Logf("%d checks, %d jobs", storm.checks, storm.jobs.Load())
}

// gateStorm is jobs behind gates, and those who run them.
type gateStorm struct {
	*testing.T
	stores  []*mysql.Store
	callers *sql.DB
	jobs    atomic.Int64
	checks  int
}

// changePlaces widens and narrows the gates of one kind.
func (s *gateStorm) changePlaces(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		limit := fairlead.Limit{Scope: fairlead.LimitKind, Name: "changing", PerKey: n % (mostPlaces + 1)}
		if err := s.stores[n%2].SetLimit(context.Background(), limit); err != nil {
			s.Error(err)
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// check looks at snapshots: no gate has more jobs than places, and those have a
// place that should.
func (s *gateStorm) check(ctx context.Context) {
	for ctx.Err() == nil {
		for what, question := range map[string]string{
			"gates are overcrowded": fmt.Sprintf(`select count(*) from (select 1 from fairlead_admitted a
				join fairlead_job j on j.id = a.id join fairlead_lane l on l.id = j.lane
				group by a.gate, l.kind having count(*) > case l.kind when 'steady' then %d else %d end) g`, steadyPlaces, mostPlaces),
			"jobs have passed without a place": `select count(*) from (select id from fairlead_ready
				union all select id from fairlead_running union all select id from fairlead_waiting) p
				join fairlead_job j on j.id = p.id left join fairlead_admitted a on a.gate = j.gate and a.id = j.id where a.id is null`,
			"places are kept by others": `select count(*) from fairlead_admitted a left join (select id from fairlead_ready
				union all select id from fairlead_running union all select id from fairlead_waiting
				union all select id from fairlead_later) p on p.id = a.id where p.id is null`,
		} {
			var n int
			if err := s.callers.QueryRowContext(context.Background(), question).Scan(&n); err != nil {
				s.Error(err)
				return
			}
			if n > 0 {
				s.Errorf("%d %s", n, what)
				return
			}
		}
		s.checks++
		time.Sleep(20 * time.Millisecond)
	}
}

// gateWorker is one of those who run the jobs.
type gateWorker struct {
	*gateStorm
	store  *mysql.Store
	random *rand.Rand
	node   fairlead.NodeID
	known  []int64 // jobs that it has enqueued
}

// work enqueues jobs, runs what there is and meddles with some, and then runs
// until all have ended.
func (w *gateWorker) work(rounds int) error {
	for range rounds {
		for _, step := range []func() error{w.enqueue, w.run, w.meddle} {
			if err := step(); err != nil {
				return err
			}
		}
	}
	for end := time.Now().Add(patience.Limit); ; {
		tally, err := w.store.Tally(context.Background(), fairlead.Filter{States: []fairlead.State{
			fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting,
		}})
		if err != nil || len(tally) == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("jobs are left behind: %v", tally)
		}
		if err := w.run(); err != nil {
			return err
		}
		if _, err := w.store.Promote(context.Background(), 100); err != nil {
			return err
		}
	}
}

func (w *gateWorker) draw(words ...string) string { return words[w.random.IntN(len(words))] }

// enqueue adds jobs, now and then in a transaction whose caller does not call Wake, or
// that is rolled back.
func (w *gateWorker) enqueue() error {
	jobs := make([]*fairlead.Job, 1+w.random.IntN(4))
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: w.draw("steady", "changing"), ConcurrencyKey: w.draw("g", "h", "i"), Priority: w.random.IntN(3)}
		if w.random.IntN(4) == 0 {
			jobs[i].NotBefore = time.Now().Add(time.Duration(w.random.IntN(40)) * time.Millisecond)
		}
		if w.random.IntN(3) == 0 {
			jobs[i].Key, jobs[i].OnDuplicate = w.draw("k", "l", "m"), fairlead.KeepDuplicate
		}
	}
	client := fairlead.NewClient(w.store)
	if w.random.IntN(4) > 0 {
		if err := client.Enqueue(context.Background(), jobs...); err != nil {
			return err
		}
		w.note(jobs)
		return nil
	}
	commit := w.random.IntN(2) == 0
	err := w.inTx(commit, func(tx fairlead.Tx) error { return client.Within(tx).Enqueue(context.Background(), jobs...) })
	if err == nil && commit {
		w.note(jobs)
	}
	return err
}

func (w *gateWorker) note(jobs []*fairlead.Job) {
	for _, job := range jobs {
		w.known = append(w.known, job.ID)
		w.jobs.Add(1)
	}
}

// inTx does something in a transaction, which is undone or committed, and then
// perhaps woken. Like any caller it begins anew after a deadlock: who takes new
// keys locks the gaps between those that there are.
func (w *gateWorker) inTx(commit bool, do func(tx fairlead.Tx) error) error {
	for {
		err := w.tryInTx(commit, do)
		var answer *gomysql.MySQLError
		if !errors.As(err, &answer) || answer.Number != deadlocked {
			return err
		}
	}
}

const deadlocked = 1213

func (w *gateWorker) tryInTx(commit bool, do func(tx fairlead.Tx) error) error {
	own, err := w.callers.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer own.Rollback() //nolint:errcheck // it is over after the commit
	tx := w.store.Tx(own)
	if err := do(tx); err != nil || !commit {
		return err
	}
	if err := own.Commit(); err != nil {
		return err
	}
	if w.random.IntN(2) == 0 {
		tx.Wake()
	}
	return nil
}

// run claims jobs and settles them, each as chance has it.
func (w *gateWorker) run() error {
	ctx := context.Background()
	jobs, err := w.store.Claim(ctx, driver.Claim{Node: w.node, Scope: &driver.Scope{Kinds: []string{"steady", "changing"}}, Max: 4})
	if err != nil || len(jobs) == 0 {
		return err
	}
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		moves := []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: moves[w.random.IntN(len(moves))], FreeKey: true, After: 10 * time.Millisecond}
		if settlements[i].Move == fairlead.MoveAwait {
			settlements[i].After = time.Hour
		}
	}
	if w.random.IntN(4) > 0 {
		_, err = storetest.SettleAll(ctx, w.store, settlements)
	} else {
		for _, commit := range []bool{false, true} {
			err = errors.Join(err, w.inTx(commit, func(tx fairlead.Tx) error {
				_, err := tx.Settle(ctx, settlements)
				return err
			}))
		}
	}
	for _, settlement := range settlements {
		if settlement.Move == fairlead.MoveAwait && err == nil {
			settlement.Move, settlement.After = []fairlead.Move{fairlead.Succeed, fairlead.Again}[w.random.IntN(2)], 0
			err = w.store.Resolve(ctx, settlement)
			if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) || errors.Is(err, fairlead.ErrLeaseLost) {
				err = nil // another worker has cancelled it, and deleted or reopened it then
			}
		}
	}
	return err
}

// meddle does something to a job that may be anywhere.
func (w *gateWorker) meddle() error {
	if len(w.known) == 0 {
		return nil
	}
	ctx, id := context.Background(), w.known[w.random.IntN(len(w.known))]
	var err error
	switch w.random.IntN(6) {
	case 0:
		err = w.store.Cancel(ctx, id, "")
	case 1:
		err = w.store.Reopen(ctx, id)
	case 2:
		err = w.store.Reschedule(ctx, id, time.Now().Add(time.Duration(w.random.IntN(40)-20)*time.Millisecond))
	case 3:
		err = w.store.RunNow(ctx, id)
	case 4:
		err = w.store.SetPriority(ctx, id, w.random.IntN(5))
	case 5:
		err = w.store.Delete(ctx, id)
	}
	if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
		return nil
	}
	return err
}
