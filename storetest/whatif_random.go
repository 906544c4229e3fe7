package storetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testSeeds adds a clause for each of several random states; FAIRLEAD_WHATIF_SEEDS
// increases their number.
func (c *chapter) testSeeds(sentence string, check func(f *fixture, seed uint64)) {
	const few = 3
	for seed := range whatIfSeeds() {
		clauses := c
		if seed >= few {
			clauses = c.long("one more random state")
		}
		clauses.test(fmt.Sprintf("%s, with seed %d", sentence, seed), func(f *fixture) { check(f, seed) })
	}
}

// whatIfSeeds returns the number of random states that the suite tries.
func whatIfSeeds() uint64 {
	const usual = 10
	if n, err := strconv.ParseUint(os.Getenv("FAIRLEAD_WHATIF_SEEDS"), 10, 64); err == nil {
		return n
	}
	return usual
}

// limitedWorld contains random tenants, limits and jobs.
type limitedWorld struct {
	*fixture
	lot     *rand.Rand
	node    fairlead.NodeID
	tenants []fairlead.Tenant
}

// testWhatIfHappens asks for the effect of a random change, makes the change, and claims.
// With odd seeds it claims jobs one by one, so that they must come in the predicted order.
// With even seeds a claim takes several jobs: it returns them by their keys, regardless of
// the order in which it chose them, and they must be the ones predicted next.
func testWhatIfHappens(f *fixture, seed uint64) {
	w := &limitedWorld{fixture: f, lot: rand.New(rand.NewPCG(seed, 32))}
	w.node = f.joinKnowing(10, "a", "b")
	w.declareAll()
	w.limitSome()
	w.fill()
	w.start()
	w.pauseSome()
	question := fairlead.WhatIf{Changes: w.changes(), Slots: 1 + w.lot.IntN(60)}
	want := startIDs(f.whatIf(question).After)
	w.save(question.Changes)
	most := 1
	if seed%2 == 0 {
		most = 20
	}
	for from, n := 0, 0; from < len(want); from += n {
		n = min(1+w.lot.IntN(most), len(want)-from)
		got, next := ids(w.claim(n)), slices.Clone(want[from:from+n])
		slices.Sort(got)
		slices.Sort(next)
		f.equal(fmt.Sprintf("what starts %d to %d of %d are after %s", from+1, from+n, question.Slots, shownChanges(question)), got, next)
	}
	f.equal("what starts beyond that", len(w.claim(question.Slots-len(want))), 0)
}

func (w *limitedWorld) claim(most int) []*fairlead.Job {
	return w.claimAs(driver.Claim{Node: w.node, Scope: everything("a", "b"), Max: most})
}

// oneIn returns true once in n times.
func (w *limitedWorld) oneIn(n int) bool { return w.lot.IntN(n) == 0 }

// declareAll declares tenants, some with the first one as parent; it leaves out the last.
func (w *limitedWorld) declareAll() {
	for i := range 5 {
		tenant := fairlead.Tenant{Name: fmt.Sprint("t", i)}
		if i == 1 || i == 2 {
			tenant.Parent = "t0"
		}
		w.bound(&tenant)
		w.tenants = append(w.tenants, w.declare(tenant))
	}
}

// bound sets random limits of a tenant.
func (w *limitedWorld) bound(t *fairlead.Tenant) {
	t.MaxRunning, t.MinRunning, t.Rate, t.Burst = 0, 0, 0, 0
	t.Weight, t.Paused = w.lot.IntN(4), w.oneIn(10)
	if w.oneIn(2) {
		t.MaxRunning = 3 + w.lot.IntN(15)
	}
	if w.oneIn(3) {
		t.MinRunning = 1 + w.lot.IntN(3)
	}
	if w.oneIn(3) {
		t.Rate, t.Burst = 0.25*float64(1+w.lot.IntN(8)), 1+w.lot.IntN(12)
	}
}

// drawLimit returns a random limit of a scope.
func (w *limitedWorld) drawLimit(scope fairlead.LimitScope, name string) fairlead.Limit {
	limit := fairlead.Limit{Scope: scope, Name: name}
	if w.oneIn(2) {
		limit.MaxRunning = 20 + w.lot.IntN(50)
	}
	if w.oneIn(3) {
		limit.Rate, limit.Burst = 0.5*float64(1+w.lot.IntN(20)), 5+w.lot.IntN(40)
	}
	if scope == fairlead.LimitGlobal || scope == fairlead.LimitQueue {
		limit.Order = []fairlead.Order{"", fairlead.OrderDeadline, fairlead.OrderFair, fairlead.OrderFair}[w.lot.IntN(4)]
	}
	return limit
}

// scopes returns all scopes that can have limits.
func (w *limitedWorld) scopes() []fairlead.Limit {
	return []fairlead.Limit{
		{Scope: fairlead.LimitGlobal}, {Scope: fairlead.LimitQueue, Name: "q0"}, {Scope: fairlead.LimitQueue, Name: "q1"},
		{Scope: fairlead.LimitKind, Name: "a"}, {Scope: fairlead.LimitKind, Name: "b"},
	}
}

func (w *limitedWorld) limitSome() {
	for _, of := range w.scopes() {
		if w.oneIn(2) {
			w.limit(w.drawLimit(of.Scope, of.Name))
		}
	}
}

// fill enqueues jobs of several lanes; some are not served by any node, some are parked,
// some are not due.
func (w *limitedWorld) fill() {
	var jobs []*fairlead.Job
	for range 60 + w.lot.IntN(150) {
		job := with(ofKind([]string{"a", "a", "b", "c"}[w.lot.IntN(4)]), inQueue(fmt.Sprint("q", w.lot.IntN(2))), forTenant(fmt.Sprint("t", w.lot.IntN(6))),
			priority(w.lot.IntN(3)), startBy(w.now().Add(time.Duration(w.lot.IntN(100))*time.Second)))
		switch w.lot.IntN(12) {
		case 0:
			job.ConcurrencyKey = fmt.Sprint("g", w.lot.IntN(3))
		case 1:
			job.NotBefore, job.StartBy = w.now().Add(time.Hour), time.Time{}
		}
		jobs = append(jobs, job)
	}
	w.enqueue(jobs...)
}

// start claims some of the jobs; some of these end, some wait for an answer, others run.
func (w *limitedWorld) start() {
	for range w.lot.IntN(4) {
		for _, job := range w.claim(w.lot.IntN(12)) {
			switch w.lot.IntN(4) {
			case 0:
				w.settle(to(fairlead.Succeed, job))
			case 1:
				w.settle(wait(job))
			}
		}
		w.Advance(time.Duration(w.lot.IntN(3000)) * time.Millisecond)
	}
}

func (w *limitedWorld) pauseSome() {
	for _, pause := range []fairlead.Pause{{Scope: fairlead.PauseQueue, Name: "q1"}, {Scope: fairlead.PauseKind, Name: "b"}, {Scope: fairlead.PauseTenant, Name: "t5"}} {
		if w.oneIn(8) {
			w.pause(pause)
		}
	}
}

// changes returns random changes that can be saved one after the other.
func (w *limitedWorld) changes() (changes []fairlead.RuleChange) {
	for range w.lot.IntN(3) {
		if w.oneIn(2) {
			of := w.scopes()[w.lot.IntN(len(w.scopes()))]
			limit := w.drawLimit(of.Scope, of.Name)
			changes = append(changes, fairlead.RuleChange{Limit: &limit})
			continue
		}
		tenant := w.tenants[w.lot.IntN(len(w.tenants))]
		if w.bound(&tenant); w.oneIn(4) && tenant.Name > "t2" {
			tenant.Parent = "t0"
		}
		changes = append(changes, fairlead.RuleChange{Tenant: &tenant})
	}
	if w.oneIn(10) {
		changes = append(changes, fairlead.RuleChange{Tenant: &fairlead.Tenant{Name: "t5", MaxRunning: 1 + w.lot.IntN(5), Parent: "t0"}})
	}
	if fairlead.NormalizeWhatIf(&fairlead.WhatIf{Changes: changes}) != nil {
		return changes[:1] // two changes concern the same object
	}
	return changes
}

// save makes the changes.
func (w *limitedWorld) save(changes []fairlead.RuleChange) {
	for _, change := range changes {
		if change.Limit != nil {
			w.limit(*change.Limit)
		} else {
			w.declare(*change.Tenant)
		}
	}
}

func shownChanges(question fairlead.WhatIf) (text string) {
	for _, change := range question.Changes {
		if change.Limit != nil {
			text += fmt.Sprintf("%+v ", *change.Limit)
		} else {
			text += fmt.Sprintf("%+v ", *change.Tenant)
		}
	}
	return text + "nothing else"
}
