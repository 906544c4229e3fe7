package storetest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// oracle is the contract in memory: it returns the expected answers of a store without a
// store's difficulties. Its methods are called like the store's, one at a time.
type oracle struct {
	now     time.Time
	records map[int64]*record
	nodes   map[fairlead.NodeID]*lifetime
	keys    map[ownedKey]int64 // → the job that holds the key
	paused  map[fairlead.Pause]bool
	perKey  map[string]int // kind → number of slots of each gate, if set
}

// record is one job. Get should return the embedded job.
type record struct {
	fairlead.Job
	attempts []fairlead.Attempt
	wish     *string              // reason for the requested cancellation
	answer   *fairlead.Settlement // answer that arrived before the job was waiting
	retry    *time.Duration       // while it waits: delay before a retry after a failure
	due      time.Time            // original due time; delays between attempts do not change it
	admitted bool                 // holds a slot of its gate
	ran      bool                 // is running, or was ended by a run: fence, node and start are known
	reaped   bool                 // its last run ended with its node
	revived  []revival            // times when Reap made it ready
}

// revival is a crash that is withdrawn if the node reports that it lived.
type revival struct {
	node    fairlead.NodeID
	attempt int // index in attempts
}

type lifetime struct {
	until time.Time
	heard time.Time
	dead  bool
	lived bool
}

type ownedKey struct{ tenant, key string }

func newOracle(now time.Time) *oracle {
	return &oracle{
		now: now, records: map[int64]*record{}, nodes: map[fairlead.NodeID]*lifetime{},
		keys: map[ownedKey]int64{}, paused: map[fairlead.Pause]bool{}, perKey: map[string]int{},
	}
}

// ids returns the IDs of all jobs, in order.
func (o *oracle) ids() []int64 { return slices.Sorted(maps.Keys(o.records)) }

// in returns the jobs in a state, ordered by ID.
func (o *oracle) in(state fairlead.State) []*record {
	var list []*record
	for _, id := range o.ids() {
		if r := o.records[id]; r.State == state {
			list = append(list, r)
		}
	}
	return list
}

func (o *oracle) tally() map[fairlead.State]int64 {
	tally := map[fairlead.State]int64{}
	for _, r := range o.records {
		tally[r.State]++
	}
	return tally
}

// holder returns the job that holds the key of the given one, if any.
func (o *oracle) holder(job *fairlead.Job) *record {
	return o.records[o.keys[ownedKey{job.Tenant, job.Key}]]
}

func (o *oracle) takeKey(job *fairlead.Job) {
	if job.Key != "" {
		o.keys[ownedKey{job.Tenant, job.Key}] = job.ID
	}
}

func (o *oracle) dropKey(job *fairlead.Job) {
	if owned := (ownedKey{job.Tenant, job.Key}); o.keys[owned] == job.ID {
		delete(o.keys, owned)
	}
}

// refuses reports whether Enqueue returns a conflict over the job's key.
func (o *oracle) refuses(job *fairlead.Job) bool {
	holder := o.holder(job)
	switch {
	case job.Key == "" || holder == nil || job.OnDuplicate == fairlead.KeepDuplicate:
		return false
	case job.OnDuplicate == fairlead.ReplaceDuplicate:
		return !verdict.Pending(holder.State)
	}
	return true
}

// enqueue records a job that the store has accepted, with its ID.
func (o *oracle) enqueue(job fairlead.Job) {
	if _, kept := o.records[job.ID]; kept {
		return
	}
	if holder := o.holder(&job); job.Key != "" && holder != nil { // the new job replaces the holder
		o.become(holder, verdict.ReplacedBy(job.ID))
		o.dropKey(&holder.Job)
	}
	due := job.NotBefore
	if due.IsZero() {
		due = o.now
	}
	if job.StartBy.IsZero() {
		job.StartBy = due
	}
	job.Status = fairlead.Status{CreatedAt: o.now}
	r := &record{Job: job, due: due}
	o.records[job.ID] = r
	o.takeKey(&r.Job)
	o.await(r, due)
}

// await makes a job ready, parked or scheduled.
func (o *oracle) await(r *record, due time.Time) {
	r.State = verdict.Where(!due.After(o.now), r.ConcurrencyKey != "", r.admitted)
	r.NotBefore, r.ran, r.wish, r.answer, r.Deadline = due, false, nil, nil, time.Time{}
}

// become applies a decision on a job.
func (o *oracle) become(r *record, next verdict.Next) {
	if next.Failed {
		o.note(r, next.Reason, next.Error)
		r.Failures++
	}
	if next.Unused {
		r.Attempt--
	}
	switch next.State {
	case fairlead.Ready:
		o.await(r, o.due(next))
	case fairlead.Waiting:
		r.State, r.Deadline, r.retry, r.answer = fairlead.Waiting, o.due(next), next.Retry, nil
	default:
		o.end(r, next)
	}
}

// note records the run that ends now.
func (o *oracle) note(r *record, reason fairlead.Reason, text string) {
	r.attempts = append(r.attempts, fairlead.Attempt{
		Run: r.Attempt, Fence: r.Fence, Node: r.Node, StartedAt: r.StartedAt, FinishedAt: o.now, Reason: reason, Error: text,
	})
}

func (o *oracle) due(next verdict.Next) time.Time {
	if !next.At.IsZero() {
		return next.At
	}
	return o.now.Add(next.After)
}

// end finishes a job.
func (o *oracle) end(r *record, next verdict.Next) {
	r.State, r.FinishedAt, r.Reason, r.Error, r.Output = next.State, o.now, next.Reason, next.Error, next.Output
	r.wish, r.answer, r.Deadline, r.admitted = nil, nil, time.Time{}, false
	if r.KeyScope != fairlead.KeyForever {
		o.dropKey(&r.Job)
	}
}

// alive reports whether a node has a live lease.
func (o *oracle) alive(node fairlead.NodeID) bool {
	l := o.nodes[node]
	return l != nil && !l.dead && o.now.Before(l.until)
}

// claimable returns the IDs that a claim should return.
func (o *oracle) claimable(claim driver.Claim) []int64 {
	var ready []*fairlead.Job
	for _, r := range o.in(fairlead.Ready) {
		paused := o.paused[queuePause(r.Queue)] || o.paused[kindPause(r.Kind)]
		if verdict.Suspect(r.Crashes) == claim.Solo && !paused && slices.Contains(claim.Scope.Kinds, r.Kind) {
			ready = append(ready, &r.Job)
		}
	}
	taken := map[string]int{}
	var list []int64
	for _, job := range inTurn(ready) {
		room, named := claim.Rooms[job.Kind]
		if len(list) < claim.Max && (!named || taken[job.Kind] < room) {
			list = append(list, job.ID)
			taken[job.Kind]++
		}
	}
	return list
}

// lease records that a job was claimed with a fence.
func (o *oracle) lease(r *record, node fairlead.NodeID, fence int64) {
	r.State, r.Node, r.Fence, r.StartedAt, r.ran = fairlead.Running, node, fence, o.now, true
	r.reaped = false
	r.Attempt++
}

// settle applies one settlement.
func (o *oracle) settle(s fairlead.Settlement) fairlead.Settled {
	r := o.records[s.ID]
	if r == nil {
		r = &record{}
	}
	if !verdict.Current(&s, r.State, r.Fence) {
		end := fairlead.State("")
		if r.ran && r.Fence == s.Fence && !r.reaped {
			end = r.State
		}
		return verdict.Missed(&s, end, false)
	}
	counts := verdict.Early(&s, r.answer)
	if counts.Memo != nil {
		r.Memo = counts.Memo
	}
	if counts.Progress != nil {
		r.Progress = counts.Progress
	}
	next, settled := verdict.Settle(counts, r.wish)
	o.become(r, next)
	return settled
}

// resolve applies an answer to a waiting job. A nil error means that the answer counts, or
// counted before.
func (o *oracle) resolve(given fairlead.Settlement) error {
	r := o.records[given.ID]
	if r == nil {
		return fairlead.ErrNotFound
	}
	answer, err := verdict.Answer(&given)
	if err != nil {
		return err
	}
	at := verdict.JobState{
		ID: r.ID, State: r.State, Deadline: r.Deadline.UnixMicro(), Now: o.now.UnixMicro(), Retry: r.retry, Answer: r.answer,
		Reason: r.Reason, Error: r.Error, Output: r.Output,
	}
	if r.ran {
		at.Fence = r.Fence
	}
	reply, err := at.Resolve(&answer)
	switch {
	case err != nil:
		return err
	case reply == verdict.Stale:
		run, found := r.run(answer.Fence)
		return verdict.Recorded(&answer, found, run.Reason, run.Error)
	case reply == verdict.Kept:
		r.answer = &answer
	case reply == verdict.Counts:
		o.become(r, at.Apply(&answer))
	}
	return nil
}

// run returns the recorded run with a fence.
func (r *record) run(fence int64) (run fairlead.Attempt, found bool) {
	i := slices.IndexFunc(r.attempts, func(a fairlead.Attempt) bool { return a.Fence == fence })
	if i < 0 {
		return run, false
	}
	return r.attempts[i], true
}

// save implements Store.Save.
func (o *oracle) save(id, fence int64, progress, memo json.RawMessage) error {
	r := o.records[id]
	if r == nil || r.State != fairlead.Running || r.Fence != fence {
		return fairlead.ErrLeaseLost
	}
	if progress != nil {
		r.Progress = progress
	}
	if memo != nil {
		r.Memo = memo
	}
	r.Crashes = 0
	return nil
}
