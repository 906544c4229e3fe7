package fairlead

import "time"

// Explanation says why a job does not run, as of one moment.
type Explanation struct {
	ID        int64
	State     State
	At        time.Time  // the database's clock
	Obstacles []Obstacle // all that keeps it from starting now, in the order in which a claim would find it; none if it runs or has ended
	Ahead     int        // jobs that go before it: ready ones, where tenants share starts only those of its own tenant, or while it is parked those parked at the same gate; MaxAhead stands for that many or more
	Start     time.Time  // when it will probably start: when its obstacles end without help, or for want of a slot, at a cap and in line as fast as jobs were started in the last UsageWindow; zero if that is unknown
	Share     *Share     // of a ready job where tenants share starts by weight; nil elsewhere
}

// Share is what a tenant gets of the starts where Limit.Order is OrderFair.
type Share struct {
	Queue    string  // whose starts are shared; empty: those of all queues that follow the cluster
	Weight   int     // the tenant's
	Entitled float64 // part of all starts that its weight gives it beside the tenants that have started jobs in the last UsageWindow
	Had      float64 // part of all starts in the last UsageWindow that were its own
	Text     string  // all of that for people
}

// MaxAhead is how many jobs before one are counted.
const MaxAhead = 10_000

// Obstacle is one thing that keeps a job from starting.
type Obstacle struct {
	Code  ObstacleCode
	Scope LimitScope // of a pause, cap or rate: whose it is
	Name  string     // of the queue, kind or tenant; empty if global; at a gate: its key
	Used  int        // at a cap: jobs that count; at a gate: those that have a place; at a rate: nothing
	Cap   int
	By    []int64   // at a gate: the first of the jobs that have a place, at most five
	Until time.Time // when it ends without help; zero if it does not, or that is unknown
	Text  string    // all of that for people
}

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
