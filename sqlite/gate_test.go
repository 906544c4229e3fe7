package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sqlite"
)

// gateFaults counts what no snapshot of the file may show. A job is parked
// though there is a place only inside a transaction.
func gateFaults(most int) map[string]string {
	const (
		taken  = "(select count(*) from fairlead_admitted a where a.gate = p.gate)"
		places = "max(1, coalesce((select q.per_key from fairlead_quota q join fairlead_lane l on l.kind = q.name where q.scope = 'kind' and l.id = p.lane), 0))"
		alive  = "(select id from fairlead_ready union all select id from fairlead_running union all select id from fairlead_waiting)"
	)
	return map[string]string{
		"parked differs from job":           "select count(*) from fairlead_parked p join fairlead_job j on j.id = p.id where (p.lane, p.gate, p.turn, p.start_by) <> (j.lane, j.gate, j.turn, j.start_by)",
		"parked though there is a place":    "select count(*) from fairlead_parked p where " + taken + " < " + places,
		"alive without a place":             "select count(*) from fairlead_job j where gate is not null and id in " + alive + " and not exists (select 1 from fairlead_admitted a where a.gate = j.gate and a.id = j.id)",
		"a place of somebody who has ended": "select count(*) from fairlead_admitted where id not in " + alive + " and id not in (select id from fairlead_later)",
		"gates with too many jobs":          fmt.Sprintf("select count(*) from (select 1 from fairlead_admitted group by gate having count(*) > %d)", most),
	}
}

func checkGates(ctx context.Context, db *sql.DB, most int) error {
	for what, query := range gateFaults(most) {
		var n int
		if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%s: %d", what, n)
		}
	}
	return nil
}

// crowd is callers that enqueue and settle jobs at a few gates while another caller
// changes how many places there are.
type crowd struct {
	node   fairlead.NodeID
	random *rand.Rand
}

const mostPlaces = 3

// come enqueues a job, some of them in a transaction of its own that may not
// commit.
func (c *crowd) come(ctx context.Context, s *sqlite.Store) error {
	jobs := []*fairlead.Job{{Kind: "k", ConcurrencyKey: fmt.Sprint(c.random.IntN(3)), Priority: c.random.IntN(2)}, {Kind: "k"}}
	if c.random.IntN(3) > 0 {
		return fairlead.NewClient(s).Enqueue(ctx, jobs...)
	}
	tx, err := s.DB().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = fairlead.NewClient(s).Within(s.Tx(tx)).Enqueue(ctx, jobs...)
	if err != nil || c.random.IntN(2) == 0 {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// leave claims jobs and lets them end, or run again.
func (c *crowd) leave(ctx context.Context, s *sqlite.Store) error {
	jobs, err := s.Claim(ctx, driver.Claim{Node: c.node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 4})
	if err != nil {
		return err
	}
	moves := []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Fail, fairlead.Again, fairlead.MoveRelease}
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: moves[c.random.IntN(len(moves))], FreeKey: true}
	}
	_, err = s.Settle(ctx, settlements)
	return err
}

// meddle does to some job, or to all gates, what people do.
func (c *crowd) meddle(ctx context.Context, s *sqlite.Store) error {
	if c.random.IntN(3) == 0 {
		return s.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", PerKey: c.random.IntN(mostPlaces + 1)})
	}
	jobs, err := s.Find(ctx, fairlead.Filter{Limit: 20})
	if err != nil || len(jobs) == 0 {
		return err
	}
	id, now := jobs[c.random.IntN(len(jobs))].ID, time.Now()
	err = []func() error{
		func() error { return s.Cancel(ctx, id, "") },
		func() error { return s.Reopen(ctx, id) },
		func() error { return s.Delete(ctx, id) },
		func() error { return s.SetPriority(ctx, id, c.random.IntN(3)) },
		func() error { return s.Reschedule(ctx, id, now.Add(time.Duration(c.random.IntN(5))*time.Millisecond)) },
		func() error { return s.RunNow(ctx, id) },
		func() error { _, err := s.Promote(ctx, 10); return err },
	}[c.random.IntN(7)]()
	if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
		return nil
	}
	return err
}

// TestNoSnapshotShowsAGateInBetween: whatever is done to gates by several
// processes and by callers' transactions at once, every commit leaves them in
// order.
func TestNoSnapshotShowsAGateInBetween(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	options := sqlite.Options{Synchronous: "off"}
	stores := []*sqlite.Store{open(t, file, options), open(t, file, options)}
	ctx := driver.AsNode(t.Context(), "of all stores")
	node, err := stores[0].Join(ctx, fairlead.Node{}, time.Hour)
	must(t, err)
	var all sync.WaitGroup
	for i := range 6 {
		c := &crowd{node: node, random: rand.New(rand.NewPCG(7, uint64(i)))}
		act := []func(context.Context, *sqlite.Store) error{c.come, c.leave, c.meddle}[i%3]
		s := stores[i/3]
		all.Go(func() {
			for range 60 {
				if err := act(ctx, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	reader, err := sql.Open("sqlite", file)
	must(t, err)
	defer func() { must(t, reader.Close()) }()
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	for looks, over := 1, false; !over; looks++ {
		select {
		case <-done: // one last look
			over = true
			t.Logf("looked %d times", looks)
		default:
		}
		if err := checkGates(t.Context(), reader, mostPlaces); err != nil {
			t.Error(err)
			break
		}
	}
	<-done
	checkFile(t, reader)
}

// TestARefusedReplacementGivesBackOnePlace: that its job succeeds is undone, and
// with it that it had left its gate.
func TestARefusedReplacementGivesBackOnePlace(t *testing.T) {
	s := open(t, ":memory:", sqlite.Options{})
	must(t, s.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", PerKey: 2}))
	client := fairlead.NewClient(s)
	must(t, client.Enqueue(t.Context(), &fairlead.Job{Kind: "other", Key: "taken"}))
	for range 5 {
		must(t, client.Enqueue(t.Context(), &fairlead.Job{Kind: "k", ConcurrencyKey: "g"}))
	}
	node, err := s.Join(t.Context(), fairlead.Node{}, time.Hour)
	must(t, err)
	jobs, err := s.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 9})
	must(t, err)
	if len(jobs) != 2 {
		t.Fatalf("%d jobs had a place", len(jobs))
	}
	heir := &fairlead.Job{Kind: "k", ConcurrencyKey: "g", Key: "taken", Priority: 9}
	must(t, fairlead.NormalizeJobs([]*fairlead.Job{heir}))
	_, err = s.Settle(t.Context(), []fairlead.Settlement{
		{ID: jobs[0].ID, Fence: jobs[0].Fence, Move: fairlead.Succeed, Replace: heir, FreeKey: true},
		{ID: jobs[1].ID, Fence: jobs[1].Fence, Move: fairlead.Succeed, FreeKey: true},
	})
	must(t, err)
	tally, err := s.Tally(t.Context(), fairlead.Filter{Kinds: []string{"k"}})
	must(t, err)
	if tally[fairlead.Failed] != 1 || tally[fairlead.Succeeded] != 1 || tally[fairlead.Ready] != 2 || tally[fairlead.Parked] != 1 {
		t.Errorf("the tally is %v", tally)
	}
	must(t, checkGates(t.Context(), s.DB(), 2))
}
