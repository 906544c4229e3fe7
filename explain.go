package fairlead

import (
	"context"
	"errors"
	"time"
)

// Explanation describes, at one moment, why a job is not running or the status of its
// current run.
type Explanation struct {
	ID         int64       // ID of the job
	State      State       // state of the job
	At         time.Time   // time of the explanation, by the database's clock
	Obstacles  []Obstacle  // obstacles to starting now, in the order in which a claim checks them; empty if it runs or has ended
	Ahead      int         // number of jobs that start before it: ready jobs (only its own tenant's where tenants share starts), or, while it is parked, jobs parked at the same gate; MaxAhead means that many or more
	AheadOwn   int         // number of jobs among Ahead that belong to its own tenant
	Start      time.Time   // estimated start, once the obstacles with an Until have ended; zero if unknown. Under a rate it allows for the jobs ahead. For jobs that lack a slot, are in line or are at the cap of the cluster or a tenant, it assumes the rate of starts in the last UsageWindow, reduced by the starts of newer jobs
	NoEstimate *NoEstimate // reason for a missing estimate; nil if Start is set, and for jobs that do not wait
	Run        *CurrentRun // the current run; nil unless it runs
	Share      *Share      // the tenant's share of starts, for a ready job where tenants share starts by weight; otherwise nil
}

// NoEstimate describes why the start of a job cannot be estimated.
type NoEstimate struct {
	Reason  NoEstimateReason
	Newer   int    // if Overtaken, the newer jobs that arrived in the last UsageWindow and start before the job
	Started int    // if Overtaken, the number of jobs that can start in a UsageWindow
	Text    string // human-readable summary
}

// NoEstimateReason identifies why the start of a job cannot be estimated.
type NoEstimateReason string

// The reasons why a start cannot be estimated.
const (
	Overtaken NoEstimateReason = "overtaken" // newer jobs with a higher priority or an earlier StartBy arrive about as fast as jobs start
	NoStarts  NoEstimateReason = "no_starts" // no job was started in the last UsageWindow
	LongLine  NoEstimateReason = "long_line" // MaxAhead or more jobs are ahead
	NoEnd     NoEstimateReason = "no_end"    // an obstacle ends at an unknown time
)

// Share describes a tenant's share of starts if Limit.Order is OrderFair.
type Share struct {
	Queue    string  // queue with shared starts; empty for all queues that follow the cluster's order
	Weight   int     // the tenant's weight
	Entitled float64 // fraction of all starts that its weight entitles it to, among the tenants that started jobs in the last UsageWindow
	Had      float64 // fraction of all starts that it had in the last UsageWindow
	Text     string  // human-readable summary
}

// CurrentRun describes a job's current run.
type CurrentRun struct {
	Node     NodeID        // node that runs the job
	Name     string        // name of the node; empty if it has none or is no longer known
	Since    time.Time     // time at which the node claimed the job
	Timeout  time.Duration // timeout of the attempt; zero if its handler chooses it
	Crashes  int           // number of nodes that died while running the job since its last progress
	LastBeat time.Time     // last beat of the node; zero if the node is no longer known
	Lost     bool          // the node's lease has expired: another node is about to take the job back
	Stopping bool          // the job was asked to stop
}

// Situation describes the status of a schedule, batch or sweep at one moment.
type Situation struct {
	ID      int64         // ID of the schedule, batch or sweep
	Name    string        // name of the schedule, batch or sweep
	State   string        // state of the schedule, batch or sweep
	At      time.Time     // time of the description, by the database's clock
	Reasons []Obstacle    // reasons why it is stopped or slow
	Jobs    []Explanation // explanations of some of its jobs; those that do not run come first
}

// MaxExplained is the maximum number of jobs that a Situation explains.
const MaxExplained = 5

// MaxAhead is the largest value of Explanation.Ahead. Counting stops there.
const MaxAhead = 10_000

// Obstacle is one condition that keeps a job from starting.
type Obstacle struct {
	Code   ObstacleCode
	Scope  LimitScope  // scope of a pause, cap or rate
	Name   string      // name of the queue, kind or tenant; empty if global; for a gate, its key
	Used   int         // at a cap, the jobs that count; at a gate, the jobs that hold a place; not set for a rate
	Cap    int         // limit that Used has reached
	By     []int64     // at a gate, the first jobs that hold a place, at most five
	Kinds  []KindCount // if no node fits, the kinds that live nodes know; if no slot is free, the kinds that occupy the slots
	Reason string      // for a pause, its reason, if one was given
	Until  time.Time   // time at which it ends without intervention; zero if it does not or if the time is unknown
	Text   string      // human-readable summary, without Kinds
}

// KindCount is a kind and the number of its jobs.
type KindCount struct {
	Kind string
	Jobs int // zero for a kind that is only known to nodes
}

// MaxKinds is the maximum number of kinds that an Obstacle names.
const MaxKinds = 20

// ObstacleCode identifies a condition that keeps a job from starting.
type ObstacleCode string

// The obstacles of jobs.
const (
	NotDue    ObstacleCode = "not_due"   // it is not due yet, or it is backing off after a failed attempt
	IsQueued  ObstacleCode = "queued"    // it waits for an earlier run of its schedule
	AtGate    ObstacleCode = "at_gate"   // its gate is full: as many jobs with its ConcurrencyKey are admitted as allowed
	IsPaused  ObstacleCode = "paused"    // its queue, kind, tenant or the tenant's parent is paused
	NoNode    ObstacleCode = "no_node"   // no live node that starts jobs serves its queue and knows its kind
	AtCap     ObstacleCode = "at_cap"    // as many jobs run as a cap allows
	OverRate  ObstacleCode = "over_rate" // as many jobs have started as a rate allows
	NoSlot    ObstacleCode = "no_slot"   // all nodes that could run it are busy
	Suspected ObstacleCode = "suspect"   // it was running when nodes crashed, so it does not run alongside another such job
	InLine    ObstacleCode = "in_line"   // other jobs start first
)

// Further reasons in a Situation.
const (
	NotStarted  ObstacleCode = "not_started" // no user has started it yet
	AtBusiness  ObstacleCode = "at_business" // its gate is closed until the business system opens it
	IsStopped   ObstacleCode = "stopped"     // it was stopped or cancelled, or is about to be
	HasEnded    ObstacleCode = "ended"       // no work is left
	IsDoubtful  ObstacleCode = "doubtful"    // tasks may have run in commits that the database lost; this does not stop it
	AtApproval  ObstacleCode = "at_approval" // the first tasks have ended, and the others wait for approval
	NotPrepared ObstacleCode = "preparing"   // a pass is being prepared
	IsSilent    ObstacleCode = "silent"      // a run has not reported for too long
	IsDisabled  ObstacleCode = "disabled"    // it is disabled
	IsBroken    ObstacleCode = "broken"      // its stored form cannot be read
	WillSkip    ObstacleCode = "will_skip"   // the next instant will be skipped
	WillQueue   ObstacleCode = "will_queue"  // the run of the next instant will wait for an earlier one
)

// ExplainSome calls explain for the first MaxExplained jobs and returns the explanations. It
// omits jobs that no longer exist. It is meant for packages that implement features.
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
