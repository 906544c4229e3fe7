package fairlead

import (
	"context"
	"errors"
	"time"
)

// Explanation says why a job does not run, or how it runs, as of one moment.
type Explanation struct {
	ID        int64
	State     State
	At        time.Time   // the database's clock
	Obstacles []Obstacle  // all that keeps it from starting now, in the order in which a claim would find it; none if it runs or has ended
	Ahead     int         // jobs that go before it: ready ones, where tenants share starts only those of its own tenant, or while it is parked those parked at the same gate; MaxAhead stands for that many or more
	AheadOwn  int         // of Ahead, jobs of its own tenant
	Start     time.Time   // when it will probably start: when its obstacles end without help; under a rate when those before it have had their turn; for want of a slot, in line and at the cap of the cluster or a tenant as fast as jobs were started in the last UsageWindow; zero if that is unknown
	Run       *CurrentRun // nil unless it runs
	Share     *Share      // of a ready job where tenants share starts by weight; nil elsewhere
}

// Share is what a tenant gets of the starts where Limit.Order is OrderFair.
type Share struct {
	Queue    string  // whose starts are shared; empty: those of all queues that follow the cluster
	Weight   int     // the tenant's
	Entitled float64 // part of all starts that its weight gives it beside the tenants that have started jobs in the last UsageWindow
	Had      float64 // part of all starts in the last UsageWindow that were its own
	Text     string  // all of that for people
}

// CurrentRun says how the run of a job stands.
type CurrentRun struct {
	Node     NodeID
	Name     string        // of the node; empty if it has none, or is not known any more
	Since    time.Time     // when the node claimed the job
	Timeout  time.Duration // of the attempt; zero: its handler chooses it
	Crashes  int           // node deaths that the job was in since its last progress
	LastBeat time.Time     // of the node; zero: it is not known any more
	Lost     bool          // the lease of the node is over: the job is about to be taken back
	Stopping bool          // the job was asked to stop
}

// Situation says how a schedule, a batch or a sweep stands, as of one moment.
type Situation struct {
	ID      int64
	Name    string
	State   string
	At      time.Time     // the database's clock
	Reasons []Obstacle    // what keeps it from going on, or from going faster
	Jobs    []Explanation // of a few of its jobs, at first those that do not run
}

// MaxExplained is how many jobs a Situation explains.
const MaxExplained = 5

// MaxAhead is how many jobs before one are counted.
const MaxAhead = 10_000

// Obstacle is one thing that keeps a job from starting.
type Obstacle struct {
	Code  ObstacleCode
	Scope LimitScope // of a pause, cap or rate: whose it is
	Name  string     // of the queue, kind or tenant; empty if global; at a gate: its key
	Used  int        // at a cap: jobs that count; at a gate: those that have a place; at a rate: nothing
	Cap   int
	By    []int64     // at a gate: the first of the jobs that have a place, at most five
	Kinds []KindCount // for want of a node: the kinds that live nodes know; for want of a slot: those that take the slots
	Until time.Time   // when it ends without help; zero if it does not, or that is unknown
	Text  string      // all of that for people, but for Kinds
}

// KindCount is a kind and how many jobs of it there are.
type KindCount struct {
	Kind string
	Jobs int // zero: it is only known
}

// MaxKinds is how many kinds an Obstacle names.
const MaxKinds = 20

// ObstacleCode says what keeps a job from starting.
type ObstacleCode string

// The obstacles.
const (
	NotDue    ObstacleCode = "not_due"   // its time has not come, or it backs off after a failed attempt
	IsQueued  ObstacleCode = "queued"    // it waits for an earlier run of its schedule
	AtGate    ObstacleCode = "at_gate"   // as many jobs with its ConcurrencyKey are admitted as may be
	IsPaused  ObstacleCode = "paused"    // its queue, kind, tenant or the tenant's parent is paused
	NoNode    ObstacleCode = "no_node"   // no live node that starts jobs serves its queue and knows its kind
	AtCap     ObstacleCode = "at_cap"    // as many jobs run as a cap allows
	OverRate  ObstacleCode = "over_rate" // as many jobs have started as a rate allows
	NoSlot    ObstacleCode = "no_slot"   // the nodes that could run it are busy
	Suspected ObstacleCode = "suspect"   // it was running in crashes, and runs beside no other such job
	InLine    ObstacleCode = "in_line"   // others go first
)

// The reasons of a Situation beside those.
const (
	NotStarted  ObstacleCode = "not_started" // no user has started it yet
	AtBusiness  ObstacleCode = "at_business" // it waits for the business to open it
	IsStopped   ObstacleCode = "stopped"     // it was stopped or cancelled, or is about to be
	HasEnded    ObstacleCode = "ended"       // nothing is left to do
	IsDoubtful  ObstacleCode = "doubtful"    // tasks may have run in commits that the database lost; this keeps nothing from going on
	AtApproval  ObstacleCode = "at_approval" // the first tasks have ended, and the others wait for approval
	NotPrepared ObstacleCode = "preparing"   // a pass is being made
	IsSilent    ObstacleCode = "silent"      // a run is not heard of
	IsDisabled  ObstacleCode = "disabled"    // it is disabled
	IsBroken    ObstacleCode = "broken"      // it cannot be read
	WillSkip    ObstacleCode = "will_skip"   // its next instant will make no run
	WillQueue   ObstacleCode = "will_queue"  // the run of its next instant will wait for an earlier one
)

// ExplainSome explains the first MaxExplained of some jobs, for those who explain what
// makes jobs. Jobs that are gone by now are left out.
func ExplainSome(ctx context.Context, explain func(ctx context.Context, id int64) (Explanation, error), ids []int64) ([]Explanation, error) {
	var found []Explanation
	for _, id := range ids[:min(len(ids), MaxExplained)] {
		e, err := explain(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}
