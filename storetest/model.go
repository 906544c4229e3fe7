package storetest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// model runs random operations on a store and on the oracle, and compares them after every
// step. Its methods are the steps.
type model struct {
	*fixture
	oracle *oracle
	nodes  []fairlead.NodeID
	leases []driver.Held // all leases ever granted; stale ones are used too
	drawn  []int64       // jobs that the step concerned
}

// half keeps leases, deadlines and retentions apart from the whole seconds by which the
// clock moves, because the contract does not say whether their last instant counts.
const half = 500 * time.Microsecond

func testModel(c *chapter) {
	c.play(5, func(f *fixture, rt *rapid.T) {
		m := &model{fixture: f, oracle: newOracle(f.now())}
		m.Join(rt)
		rt.Repeat(m.steps())
		m.compareAll()
	})
}

// play runs a model repeatedly, each time with an empty database: at most plays times in
// the first tier.
func (c *chapter) play(plays int, model func(f *fixture, rt *rapid.T)) {
	one := clause{chapter: c.title}
	if c.t == nil {
		c.contract.clauses = append(c.contract.clauses, one)
		return
	}
	c.contract.meet(one)
	base := c.shelf.take().within(c.t)
	over := budget(c.t, plays)
	rapid.Check(c.t, func(rt *rapid.T) {
		if over() {
			return
		}
		failing := true
		defer func() {
			if failing { // rapid repeats the failed run to find a smaller one
				over = func() bool { return false }
			}
		}()
		if base.empty() != nil {
			base = c.shelf.take().within(c.t)
		}
		f := *base
		f.TB = rt
		model(&f, rt)
		failing = false
	})
}

// budget returns a function that reports whether the model has run often enough. With
// -rapid.checks, that flag determines the number of runs.
func budget(t *testing.T, plays int) (over func() bool) {
	played, end := 0, time.Now().Add(2*time.Second)
	quick := func() bool { played++; return played > plays }
	full := func() bool { return time.Now().After(end) }
	over = tier.Size(t, quick, full, "plays the model for two seconds")
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "rapid.checks" {
			over = func() bool { return false }
		}
	})
	return over
}

// steps returns the operations by name. Operations that make jobs move appear several
// times, so that they are drawn more often.
func (m *model) steps() map[string]func(*rapid.T) {
	steps := rapid.StateMachineActions(m)
	for _, often := range []string{"Enqueue", "Claim", "Settle", "Await", "Finish", "Resolve", "Crash", "Time"} {
		steps[often+" again"] = steps[often]
		steps[often+" once more"] = steps[often]
	}
	return steps
}

// Check runs after each step. It compares the tally, the jobs affected by the step, and one
// other job.
func (m *model) Check(rt *rapid.T) {
	m.oracle.admit()
	m.equal("the tally", m.tally(fairlead.Filter{}), m.oracle.tally())
	for _, id := range m.drawn {
		if m.oracle.records[id] != nil {
			m.compare(id)
		}
	}
	m.drawn = m.drawn[:0]
	if ids := m.oracle.ids(); len(ids) > 0 {
		m.compare(rapid.SampledFrom(ids).Draw(rt, "the job to compare"))
	}
}

func (m *model) compareAll() {
	ids := m.oracle.ids()
	slices.Reverse(ids)
	all := m.find(fairlead.Filter{Limit: 1000})
	got := make([]int64, len(all))
	for i, job := range all {
		got[i] = job.ID
	}
	m.equal("all jobs", got, ids)
	for _, id := range ids {
		m.compare(id)
		r := m.oracle.records[id]
		m.equal("the attempts", append([]fairlead.Attempt(nil), m.attempts(&r.Job)...), r.attempts)
	}
	for owned, holder := range m.oracle.keys {
		job := with(forTenant(owned.tenant), keyed(owned.key), onDuplicate(fairlead.KeepDuplicate))
		m.equal("the holder of a key", m.enqueue(job).ID, holder)
	}
}

// compare reads a job and compares everything that the contract specifies for it.
func (m *model) compare(id int64) {
	m.Helper()
	r := m.oracle.records[id]
	got, want := *m.get(&r.Job), r.Job
	want.CancelWish = r.wish != nil
	want.OnDuplicate = ""
	for _, job := range []*fairlead.Job{&got, &want} {
		if !r.ran { // not even the fence of its last lease is retained
			job.Fence, job.Node, job.StartedAt = 0, 0, time.Time{}
		}
		if r.State != fairlead.Scheduled {
			job.NotBefore = time.Time{}
		}
	}
	m.equal(fmt.Sprintf("job %d", id), got, want)
}

// agree checks for the oracle's error, with the same text after the description of the
// action.
func (m *model) agree(got, want error) {
	m.Helper()
	if want == nil {
		m.ok(got)
		return
	}
	for _, kind := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrLeaseLost, fairlead.ErrExpired} {
		if errors.Is(want, kind) != errors.Is(got, kind) {
			m.Fatalf("got error %v, want %q", got, want)
		}
	}
	if !strings.HasSuffix(got.Error(), want.Error()) {
		m.Fatalf("got error %q, want it to end in %q", got, want)
	}
}

// any returns a random job ID: usually of an existing job.
func (m *model) any(rt *rapid.T) int64 {
	id := rapid.SampledFrom(append(m.oracle.ids(), unknown)).Draw(rt, "job")
	m.drawn = append(m.drawn, id)
	return id
}

func (m *model) anyNode(rt *rapid.T) fairlead.NodeID {
	return rapid.SampledFrom(m.nodes).Draw(rt, "node")
}

// anyLease returns a random lease: usually a live one, otherwise a former or invented one.
func (m *model) anyLease(rt *rapid.T) driver.Held {
	leases := m.leases
	if rapid.IntRange(0, 4).Draw(rt, "stale") > 0 {
		leases = nil
		for _, state := range []fairlead.State{fairlead.Running, fairlead.Waiting} {
			for _, r := range m.oracle.in(state) {
				leases = append(leases, driver.Held{ID: r.ID, Fence: r.Fence})
			}
		}
	}
	if len(leases) == 0 {
		return driver.Held{ID: m.any(rt), Fence: 1}
	}
	lease := leases[rapid.IntRange(0, len(leases)-1).Draw(rt, "lease")]
	m.drawn = append(m.drawn, lease.ID)
	return lease
}

func seconds(rt *rapid.T, from, to int, what string) time.Duration {
	return time.Duration(rapid.IntRange(from, to).Draw(rt, what)) * time.Second
}

// Enqueue enqueues up to three jobs with a small choice of keys, priorities and times.
func (m *model) Enqueue(rt *rapid.T) {
	job := with(
		ofKind(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind")),
		inQueue(rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "queue")),
		forTenant(rapid.SampledFrom([]string{"t", "u"}).Draw(rt, "tenant")),
		priority(rapid.IntRange(-1, 1).Draw(rt, "priority")),
		keyed(rapid.SampledFrom([]string{"", "", "k", "l"}).Draw(rt, "key")),
		behind(rapid.SampledFrom([]string{"", "", "g", "h"}).Draw(rt, "concurrency key")),
		onDuplicate(rapid.SampledFrom([]fairlead.OnDuplicate{fairlead.RefuseDuplicate, fairlead.KeepDuplicate, fairlead.ReplaceDuplicate}).Draw(rt, "on duplicate")),
	)
	if job.Key != "" && rapid.Bool().Draw(rt, "forever") {
		job.KeyScope = fairlead.KeyForever
	}
	if delay := seconds(rt, -1, 3, "delay"); delay != 0 {
		job.NotBefore = m.oracle.now.Add(delay)
	}
	if rapid.Bool().Draw(rt, "with StartBy") {
		job.StartBy = m.oracle.now.Add(seconds(rt, 3, 6, "start by"))
	}
	if rapid.Bool().Draw(rt, "fragile") {
		job.OnCrash = fairlead.CancelOnCrash
	}
	jobs := make([]*fairlead.Job, 1)
	if job.Key == "" {
		jobs = make([]*fairlead.Job, rapid.IntRange(1, 3).Draw(rt, "copies"))
	}
	for i := range jobs {
		twin := *job
		jobs[i] = &twin
	}
	if err := m.tryEnqueue(jobs...); m.oracle.refuses(jobs[0]) {
		m.wantErr(err, fairlead.ErrConflict)
		return
	} else if err != nil {
		m.Fatalf("unexpected error: %v", err)
	}
	for _, job := range jobs {
		m.oracle.enqueue(*job)
	}
}

// Claim claims, and checks for the jobs and the order of the oracle.
func (m *model) Claim(rt *rapid.T) {
	claim := driver.Claim{
		Node:  m.anyNode(rt),
		Scope: everything(rapid.SampledFrom([][]string{{"a"}, {"a", "b"}}).Draw(rt, "kinds")...),
		Max:   rapid.IntRange(1, 4).Draw(rt, "max"),
		Solo:  rapid.IntRange(0, 3).Draw(rt, "solo") == 0,
	}
	if rapid.Bool().Draw(rt, "with rooms") {
		claim.Rooms = map[string]int{"a": rapid.IntRange(0, 2).Draw(rt, "room")}
	}
	jobs, err := m.store.Claim(m.ctx(), claim)
	if !m.oracle.alive(claim.Node) {
		m.wantErr(err, fairlead.ErrLeaseLost)
		return
	}
	m.ok(err)
	m.equal("what was claimed", ids(jobs), m.oracle.claimable(claim))
	for _, job := range jobs {
		if r := m.oracle.records[job.ID]; job.Fence <= r.Fence {
			m.Fatalf("job %d has fence %d after %d", job.ID, job.Fence, r.Fence)
		}
		m.oracle.lease(m.oracle.records[job.ID], claim.Node, job.Fence)
		m.leases = append(m.leases, driver.Held{ID: job.ID, Fence: job.Fence})
	}
}

// Settle settles one or two leases, possibly the same one twice.
func (m *model) Settle(rt *rapid.T) {
	var settlements []fairlead.Settlement
	for range rapid.IntRange(1, 2).Draw(rt, "settlements") {
		lease := m.anyLease(rt)
		if slices.ContainsFunc(settlements, func(s fairlead.Settlement) bool { return s.ID == lease.ID }) {
			continue // the contract does not define the order of two moves of one job
		}
		settlement := fairlead.Settlement{ID: lease.ID, Fence: lease.Fence, FreeKey: true}
		settlement.Move = anyMove(rt)
		m.fill(rt, &settlement)
		if rapid.Bool().Draw(rt, "with memo") {
			settlement.Memo, settlement.Progress = json.RawMessage(`"memo"`), json.RawMessage(`"progress"`)
		}
		settlements = append(settlements, settlement)
	}
	m.settleBoth(settlements...)
}

func anyMove(rt *rapid.T) fairlead.Move {
	return rapid.SampledFrom([]fairlead.Move{
		fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait,
	}).Draw(rt, "move")
}

func (m *model) settleBoth(settlements ...fairlead.Settlement) {
	got, err := SettleAll(m.ctx(), m.store, settlements)
	m.ok(err)
	want := make([]fairlead.Settled, len(settlements))
	for i, settlement := range settlements {
		want[i] = m.oracle.settle(settlement)
	}
	m.equal("the answer of Settle", got, want)
}

// fill sets random values for the fields of a settlement's move.
func (m *model) fill(rt *rapid.T, s *fairlead.Settlement) {
	switch s.Move {
	case fairlead.Succeed:
		s.Output = json.RawMessage(rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "output"))
	case fairlead.Fail, fairlead.Drop:
		s.Final = rapid.Bool().Draw(rt, "final")
		s.Reason, s.Error = fairlead.ReasonError, rapid.SampledFrom([]string{"no", "never"}).Draw(rt, "error")
	case fairlead.Again:
		s.Reason, s.Error, s.After = fairlead.ReasonTimeout, "slow", seconds(rt, 0, 2, "pause")
	case fairlead.Snooze:
		s.After = seconds(rt, 1, 2, "pause")
	case fairlead.MoveAwait:
		s.After = seconds(rt, 1, 2, "deadline") + half
		if pause := seconds(rt, 0, 2, "pause"); rapid.Bool().Draw(rt, "or retry") {
			s.Retry = &pause
		}
	}
}
