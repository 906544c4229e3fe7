package sqlstore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// Facts holds the data that decides whether a job starts. Claims use the same data.
type Facts struct {
	Now         time.Time
	Job         *fairlead.Job
	LimitConfig *LimitConfig
	Limits      map[int32]*dispatch.Limit // by ID, with their current usage
	Nodes       []fairlead.Node
	Gate        Gate            // gate of a parked job
	Ahead       JobsAhead       // ready jobs ahead of the job, if it is ready
	Newer       JobsAhead       // jobs that arrived within the last UsageWindow, after the job, and start before it; some have already started
	Starts      []driver.Starts // within the last UsageWindow
	Shared      map[string]int  // starts per tenant within the last UsageWindow, in the scope where the job's tenant shares starts
	Held        []HeldKind      // jobs that nodes hold, if no slot is free
}

// HeldKind is the number of jobs of one kind that a node holds.
type HeldKind struct {
	Node fairlead.NodeID
	Kind string
	Jobs int
}

// usage returns every limit with its current usage, by ID.
func (r *LimitConfig) usage(uses []fairlead.LimitUse) map[int32]*dispatch.Limit {
	limits := make(map[int32]*dispatch.Limit, len(uses))
	for _, use := range uses {
		if id, known := r.byName[limitName{use.Scope, use.Name}]; known {
			limits[id] = &dispatch.Limit{
				ID: id, Cap: use.MaxRunning, Min: use.MinRunning, Used: use.Running,
				Rate: use.Rate, Burst: use.Burst, Tokens: use.Tokens,
			}
		}
	}
	return limits
}

// Rivals returns the lanes whose jobs could start as soon as this job on the nodes that can
// run it. Jobs in these lanes that are ahead of this job start first. Rivals omits the lanes
// of tenants that share starts with the job's tenant, because those tenants get their share
// regardless of their jobs' positions.
func (f *Facts) Rivals(lanes []Lane) []Lane {
	able, own := f.able(), f.LimitConfig.Of(KeyOf(f.Job))
	var rivals []Lane
	for _, lane := range lanes {
		if !f.shares(lane.LaneKey) && !f.LimitConfig.Paused(lane.LaneKey) && f.open(lane.LaneKey, own) && servedByAny(able, lane.LaneKey) {
			rivals = append(rivals, lane)
		}
	}
	return rivals
}

// able returns the live nodes that serve the job's queue, know its kind and accept jobs.
func (f *Facts) able() []fairlead.Node { return f.fit(false) }

// fit returns the live nodes that serve the job's queue and know its kind: the draining
// ones if draining is set, and otherwise the others.
func (f *Facts) fit(draining bool) []fairlead.Node {
	var able []fairlead.Node
	for _, node := range f.Nodes {
		if f.alive(&node) && node.Draining == draining && node.ServesTenant(f.Job.Queue, f.Job.Tenant, f.Job.Kind) {
			able = append(able, node)
		}
	}
	return able
}

// alive reports whether a node has a lease.
func (f *Facts) alive(node *fairlead.Node) bool { return !node.Dead && node.Until.After(f.Now) }

// busy reports whether some nodes could run the job and all their slots are taken.
func (f *Facts) busy() bool {
	able := f.able()
	return len(able) > 0 && !slices.ContainsFunc(able, func(node fairlead.Node) bool { return node.Idle > 0 })
}

// lack returns what is missing to start the job: a capable node, a free slot on such a
// node, or nothing.
func (f *Facts) lack() fairlead.ObstacleCode {
	switch {
	case len(f.able()) == 0:
		return fairlead.NoNode
	case f.busy():
		return fairlead.NoSlot
	}
	return ""
}

// open reports whether the limits of a lane let a job start, ignoring the limits in but,
// which also hold the explained job. When such a limit is reached, the jobs ahead take
// freed places before the explained job does.
func (f *Facts) open(lane LaneKey, but []int32) bool {
	for _, id := range f.LimitConfig.Of(lane) {
		if limit := f.Limits[id]; limit != nil && limit.Room() <= 0 && !slices.Contains(but, id) {
			return false
		}
	}
	return true
}

func servedByAny(nodes []fairlead.Node, lane LaneKey) bool {
	return slices.ContainsFunc(nodes, func(node fairlead.Node) bool { return node.ServesTenant(lane.Queue, lane.Tenant, lane.Kind) })
}

// Explain returns what keeps a job from starting. If the job has already started, it returns
// the state of the job's run.
func Explain(f Facts) fairlead.Explanation {
	e := explaining{Facts: f, lane: KeyOf(f.Job)}
	e.ID, e.State, e.At = f.Job.ID, f.Job.State, f.Now
	switch f.Job.State {
	case fairlead.Scheduled:
		e.notDue()
	case fairlead.Ready:
		e.Explanation.Ahead, e.AheadOwn = f.Ahead.total(), f.Ahead.of(f.Job.Tenant).total()
		e.share()
	case fairlead.Parked:
		e.Explanation.Ahead, e.AheadOwn = f.Gate.Ahead, f.Gate.Ahead // all jobs at a gate belong to one tenant
		e.gated()
	case fairlead.Running:
		e.Run = f.run()
		return e.Explanation
	default:
		return e.Explanation
	}
	e.paused()
	e.limited()
	e.crowded()
	e.estimate()
	return e.Explanation
}

// explaining is an explanation under construction.
type explaining struct {
	Facts
	fairlead.Explanation
	lane LaneKey
}

func (e *explaining) add(o fairlead.Obstacle, format string, args ...any) {
	o.Text = fmt.Sprintf(format, args...)
	e.Obstacles = append(e.Obstacles, o)
}

func (e *explaining) notDue() {
	due := e.Job.NotBefore
	if due.Equal(fairlead.Never) {
		e.add(fairlead.Obstacle{Code: fairlead.IsQueued}, "it is waiting for an earlier run of its schedule")
		return
	}
	o := fairlead.Obstacle{Code: fairlead.NotDue, Until: due}
	if e.Job.Failures > 0 {
		e.add(o, "it is backing off until %s after %d failed attempts", stamp(due), e.Job.Failures)
		return
	}
	e.add(o, "it is not due until %s", stamp(due))
}

func (e *explaining) gated() {
	o := fairlead.Obstacle{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Name: e.Job.ConcurrencyKey, Used: e.Gate.Taken, Cap: e.Gate.Places, By: e.Gate.By}
	e.add(o, "concurrency key %q has %d of %d slots in use, by %s", e.Job.ConcurrencyKey, e.Gate.Taken, e.Gate.Places, named(e.Gate))
}

func (e *explaining) paused() {
	for _, pause := range e.LimitConfig.PausesOf(e.lane) {
		o := fairlead.Obstacle{Code: fairlead.IsPaused, Scope: fairlead.LimitScope(pause.Scope), Name: pause.Name, Reason: pause.Reason}
		if pause.Reason == "" {
			e.add(o, "%s %q is paused", pause.Scope, pause.Name)
		} else {
			e.add(o, "%s %q is paused (%s)", pause.Scope, pause.Name, pause.Reason)
		}
	}
}

// limited adds the limits that would stop a claim.
func (e *explaining) limited() {
	for _, id := range e.LimitConfig.Of(e.lane) {
		limit, declared := e.Limits[id], e.LimitConfig.ByID[id].Limit
		if limit == nil { // just removed
			continue
		}
		o := fairlead.Obstacle{Scope: declared.Scope, Name: declared.Name}
		if limit.Full() {
			o.Code, o.Used, o.Cap = fairlead.AtCap, limit.Used, limit.Cap
			e.add(o, "%s is at its cap: %d of %d jobs are running or awaiting a result", whose(declared), limit.Used, limit.Cap)
		}
		if wait := limit.NextToken(); wait > 0 {
			o.Code, o.Used, o.Cap, o.Until = fairlead.OverRate, 0, 0, e.Now.Add(wait)
			e.add(o, "%s is at its rate of %v jobs per second; the next job can start in %v", whose(declared), declared.Rate, wait.Round(time.Millisecond))
		}
	}
}

// crowded looks for a node with a free slot.
func (e *explaining) crowded() {
	switch e.lack() {
	case fairlead.NoNode:
		e.unserved()
	case fairlead.NoSlot:
		able := e.able()
		e.add(fairlead.Obstacle{Code: fairlead.NoSlot, Kinds: e.takers(able)}, "all slots are in use on the %d nodes that could run it", len(able))
	}
	if e.Job.Crashes >= driver.SoloAfter {
		e.add(fairlead.Obstacle{Code: fairlead.Suspected}, "it was running during %d crashes, so it does not run at the same time as other crash suspects", e.Job.Crashes)
	}
	if e.Explanation.Ahead > 0 {
		e.add(e.inLine(), "%s ahead of it", jobsAre(e.Explanation.Ahead))
	}
}

// unserved adds the obstacle that no node runs the job.
func (e *explaining) unserved() {
	if draining := len(e.fit(true)); draining > 0 {
		e.add(fairlead.Obstacle{Code: fairlead.NoNode}, "the %d nodes that could run it are draining", draining)
		return
	}
	e.add(fairlead.Obstacle{Code: fairlead.NoNode, Kinds: e.known()}, "no live node serves queue %q and handles kind %q", e.lane.Queue, e.lane.Kind)
}

func whose(limit fairlead.Limit) string {
	if limit.Scope == fairlead.LimitGlobal {
		return "the cluster"
	}
	return fmt.Sprintf("%s %q", limit.Scope, limit.Name)
}

// named lists the jobs that have the places of a gate.
func named(gate Gate) string {
	if len(gate.By) == 0 {
		return "no job"
	}
	names := make([]string, len(gate.By))
	for i, id := range gate.By {
		names[i] = fmt.Sprintf("job %d", id)
	}
	if len(gate.By) < gate.Taken {
		names = append(names, "others")
	}
	return strings.Join(names, ", ")
}

func jobsAre(n int) string {
	switch {
	case n >= fairlead.MaxAhead:
		return fmt.Sprintf("%d or more jobs are", fairlead.MaxAhead)
	case n == 1:
		return "1 job is"
	default:
		return fmt.Sprintf("%d jobs are", n)
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
