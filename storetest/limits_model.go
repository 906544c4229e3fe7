package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// limitsModel runs random operations under random limits. It determines the jobs that a
// claim must take by checking every single job. Its exported methods are the steps.
type limitsModel struct {
	*fixture
	nodes   []fairlead.NodeID
	ready   []*fairlead.Job
	held    map[int64]*fairlead.Job // running and waiting
	waiting map[int64]bool
	limits  map[limitScope]*modelLimit
	parents map[string]string
}

type limitScope struct {
	scope fairlead.LimitScope
	name  string
}

// modelLimit is a limit with the saved-up tokens of its rate.
type modelLimit struct {
	fairlead.Limit
	least  int
	tokens float64
}

var (
	modelTenants = []string{"a", "b", "top"}
	modelKinds   = []string{kind, "other"}
	modelQueues  = []string{fairlead.DefaultQueue, "q"}
)

func testLimitsModel(c *chapter) {
	c.play(5, func(f *fixture, rt *rapid.T) {
		m := &limitsModel{
			fixture: f, held: map[int64]*fairlead.Job{}, waiting: map[int64]bool{},
			limits: map[limitScope]*modelLimit{}, parents: map[string]string{},
		}
		m.nodes = []fairlead.NodeID{f.join(), f.join()}
		rt.Repeat(rapid.StateMachineActions(m))
	})
}

// Check verifies after every step that limits count correctly, and that the jobs started
// since a cap was set do not exceed it.
func (m *limitsModel) Check(*rapid.T) {
	m.wantNoDrift()
	limits, err := m.store.Limits(m.ctx())
	m.ok(err)
	got, want := map[limitScope]int{}, map[limitScope]int{}
	for _, l := range limits {
		got[limitScope{l.Scope, l.Name}] = l.Running
	}
	for at := range m.limits {
		want[at] = 0
	}
	for _, job := range m.held {
		for _, at := range m.under(job) {
			want[at]++
		}
	}
	m.equal("what limits count", got, want)
}

// under returns the limits that apply to a job.
func (m *limitsModel) under(job *fairlead.Job) []limitScope {
	var under []limitScope
	for _, at := range []limitScope{
		{fairlead.LimitGlobal, ""},
		{fairlead.LimitQueue, job.Queue},
		{fairlead.LimitKind, job.Kind},
		{fairlead.LimitTenant, job.Tenant},
		{fairlead.LimitTenant, m.parents[job.Tenant]},
	} {
		if _, set := m.limits[at]; set {
			under = append(under, at)
		}
	}
	return under
}

// Enqueue adds jobs.
func (m *limitsModel) Enqueue(rt *rapid.T) {
	jobs := make([]*fairlead.Job, rapid.IntRange(1, 6).Draw(rt, "jobs"))
	for i := range jobs {
		jobs[i] = with(
			forTenant(rapid.SampledFrom(modelTenants).Draw(rt, "tenant")), ofKind(rapid.SampledFrom(modelKinds).Draw(rt, "kind")),
			inQueue(rapid.SampledFrom(modelQueues).Draw(rt, "queue")), priority(rapid.IntRange(0, 1).Draw(rt, "priority")),
			startBy(m.now().Add(time.Duration(rapid.IntRange(0, 3).Draw(rt, "start by"))*time.Minute)))
	}
	m.enqueue(jobs...)
	m.ready = append(m.ready, jobs...)
}

// Claim claims, and checks for exactly the jobs found by checking every job.
func (m *limitsModel) Claim(rt *rapid.T) {
	node, most := rapid.SampledFrom(m.nodes).Draw(rt, "node"), rapid.IntRange(1, 8).Draw(rt, "max")
	want := m.choose(most)
	claimed := m.claimAs(driver.Claim{Node: node, Scope: everything(modelKinds...), Max: most})
	m.equal("what was claimed", ids(claimed), ids(want))
	for _, job := range claimed {
		m.ready = slices.DeleteFunc(m.ready, func(ready *fairlead.Job) bool { return ready.ID == job.ID })
		m.held[job.ID] = job
	}
}

// choose returns the jobs that a claim must take, in order.
func (m *limitsModel) choose(most int) []*fairlead.Job {
	used := map[limitScope]int{}
	for _, job := range m.held {
		for _, at := range m.under(job) {
			used[at]++
		}
	}
	var chosen []*fairlead.Job
	taken := map[int64]bool{}
	for _, promised := range []bool{true, false} {
		for _, job := range inTurn(m.ready) {
			may := len(chosen) < most && !taken[job.ID]
			for _, at := range m.under(job) {
				r := m.limits[at]
				may = may && (r.MaxRunning == 0 || used[at] < r.MaxRunning) && (r.Rate == 0 || r.tokens >= 1)
			}
			if own, set := m.limits[limitScope{fairlead.LimitTenant, job.Tenant}]; promised {
				may = may && set && used[limitScope{fairlead.LimitTenant, job.Tenant}] < own.least
			}
			if !may {
				continue
			}
			taken[job.ID] = true
			chosen = append(chosen, job)
			for _, at := range m.under(job) {
				used[at]++
				m.limits[at].tokens--
			}
		}
	}
	return inTurn(chosen)
}

// Settle ends a run with a random outcome.
func (m *limitsModel) Settle(rt *rapid.T) {
	job := m.anyHeld(rt, false)
	move := rapid.SampledFrom([]fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.MoveRelease, fairlead.Again}).Draw(rt, "move")
	m.settle(to(move, job))
	m.left(job, move == fairlead.MoveRelease || move == fairlead.Again)
}

// SettleMany ends all runs of a claim at once.
func (m *limitsModel) SettleMany(rt *rapid.T) {
	first := m.anyHeld(rt, false)
	var settlements []fairlead.Settlement
	var jobs []*fairlead.Job
	for _, id := range m.heldIDs(false) {
		if job := m.held[id]; job.Fence == first.Fence {
			jobs, settlements = append(jobs, job), append(settlements, to(fairlead.Succeed, job))
		}
	}
	m.settle(settlements...)
	for _, job := range jobs {
		m.left(job, false)
	}
}

// Await makes a job wait for its callback.
func (m *limitsModel) Await(rt *rapid.T) {
	job := m.anyHeld(rt, false)
	m.settle(wait(job))
	m.waiting[job.ID] = true
}

// Answer ends a wait, by an answer or by cancellation.
func (m *limitsModel) Answer(rt *rapid.T) {
	job := m.anyHeld(rt, true)
	if rapid.Bool().Draw(rt, "cancel") {
		m.ok(operations(m.store).Cancel(m.ctx(), job.ID, ""))
	} else {
		m.resolve(to(fairlead.Succeed, job))
	}
	m.left(job, false)
}

// Crash ends a node and takes back its jobs.
func (m *limitsModel) Crash(rt *rapid.T) {
	i := rapid.IntRange(0, len(m.nodes)-1).Draw(rt, "node")
	dead := m.nodes[i]
	m.ok(m.store.Leave(m.ctx(), dead))
	reaped, err := m.store.Reap(m.ctx(), driver.Reap{MaxCrashes: 0, Limit: 1000}) // tolerates no crash, because other tests cover suspects
	m.ok(err)
	ended := 0
	for _, id := range m.heldIDs(false) {
		if job := m.held[id]; job.Node == dead {
			m.left(job, false)
			ended++
		}
	}
	m.equal("jobs that ended with the node", reaped.Poisoned, ended)
	m.nodes[i] = m.join()
}

// Time advances the clock, so that tokens are replenished.
func (m *limitsModel) Time(rt *rapid.T) {
	elapsed := seconds(rt, 1, 5, "elapsed")
	m.Advance(elapsed)
	for _, r := range m.limits {
		if r.Rate > 0 {
			r.tokens = min(float64(r.Burst), r.tokens+elapsed.Seconds()*r.Rate)
		}
	}
}

// Limit sets or removes a limit other than a tenant's.
func (m *limitsModel) Limit(rt *rapid.T) {
	at := rapid.SampledFrom([]limitScope{{fairlead.LimitGlobal, ""}, {fairlead.LimitQueue, "q"}, {fairlead.LimitKind, kind}}).Draw(rt, "scope")
	limit := m.drawLimit(rt, at)
	if err := m.tryLimit(limit); err != nil {
		m.wantErr(err, fairlead.ErrInvalid) // the limit is less than the minimums
		return
	}
	m.set(limit, 0)
}

// Declare declares a tenant again.
func (m *limitsModel) Declare(rt *rapid.T) {
	name := rapid.SampledFrom(modelTenants).Draw(rt, "tenant")
	limit := m.drawLimit(rt, limitScope{fairlead.LimitTenant, name})
	tenant := fairlead.Tenant{Name: name, MaxRunning: limit.MaxRunning, Rate: limit.Rate, Burst: limit.Burst}
	if limit.MaxRunning > 0 {
		tenant.MinRunning = rapid.IntRange(0, limit.MaxRunning).Draw(rt, "min")
	}
	if name != "top" && rapid.Bool().Draw(rt, "with parent") {
		tenant.Parent = "top"
	}
	if known := m.tenants(fairlead.TenantFilter{Names: []string{name}}); len(known) == 1 {
		tenant.Version = known[0].Version
	}
	if _, err := m.tryDeclare(tenant); err != nil {
		m.wantErr(err, fairlead.ErrInvalid) // the parent is not declared, or minimums are too large
		return
	}
	m.parents[name] = tenant.Parent
	m.set(limit, tenant.MinRunning)
}

// Undeclare deletes a tenant.
func (m *limitsModel) Undeclare(rt *rapid.T) {
	name := rapid.SampledFrom(modelTenants).Draw(rt, "tenant")
	if err := m.store.DeleteTenant(m.ctx(), name); err != nil {
		return // the tenant is a parent, or not declared
	}
	delete(m.parents, name)
	delete(m.limits, limitScope{fairlead.LimitTenant, name})
}

func (m *limitsModel) drawLimit(rt *rapid.T, at limitScope) fairlead.Limit {
	limit := fairlead.Limit{Scope: at.scope, Name: at.name, MaxRunning: rapid.IntRange(0, 4).Draw(rt, "cap")}
	if rapid.IntRange(0, 3).Draw(rt, "rated") == 0 {
		limit.Rate, limit.Burst = 1, rapid.IntRange(1, 3).Draw(rt, "burst")
	}
	return limit
}

// set updates the model of a limit.
func (m *limitsModel) set(limit fairlead.Limit, least int) {
	at := limitScope{limit.Scope, limit.Name}
	if limit.MaxRunning == 0 && limit.Rate == 0 && least == 0 {
		delete(m.limits, at)
		return
	}
	next := &modelLimit{Limit: limit, least: least, tokens: float64(limit.Burst)}
	if before, set := m.limits[at]; set && before.Rate == limit.Rate && before.Burst == limit.Burst {
		next.tokens = before.tokens
	}
	m.limits[at] = next
}

// left updates the model after a job has freed its slot.
func (m *limitsModel) left(job *fairlead.Job, ready bool) {
	delete(m.held, job.ID)
	delete(m.waiting, job.ID)
	if ready {
		m.ready = append(m.ready, job)
	}
}

func (m *limitsModel) heldIDs(waiting bool) []int64 {
	var held []int64
	for id := range m.held {
		if m.waiting[id] == waiting {
			held = append(held, id)
		}
	}
	slices.Sort(held)
	return held
}

// anyHeld returns a random job that holds its slot, running or waiting.
func (m *limitsModel) anyHeld(rt *rapid.T, waiting bool) *fairlead.Job {
	held := m.heldIDs(waiting)
	if len(held) == 0 {
		rt.Skip(fmt.Sprint("no job is held, waiting: ", waiting))
	}
	return m.held[rapid.SampledFrom(held).Draw(rt, "job")]
}
