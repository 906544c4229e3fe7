package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// oracle is the contract in memory: what a store should answer, without any
// of its difficulties. Its verbs are called as the store's, one at a time; each
// returns what the store should return.
type oracle struct {
	now     time.Time
	records map[int64]*record
	nodes   map[fairlead.NodeID]*lifetime
	keys    map[ownedKey]int64 // → the job that holds it
	paused  map[fairlead.Pause]bool
	perKey  map[string]int // kind → places of each gate, where that is set
}

// record is one job. The embedded job is what Get should return.
type record struct {
	fairlead.Job
	attempts []fairlead.Reason
	wish     *string              // why somebody wants it cancelled
	answer   *fairlead.Settlement // that came before the job was waiting
	answered *fairlead.Settlement // how a waiting job was answered
	expired  bool                 // ended because nobody answered
	due      time.Time            // when it was meant to run first; pauses between attempts do not change it
	vague    bool                 // ended in a way whose error is the store's to word
	admitted bool                 // it has a place at its gate
	ran      bool                 // it is in its run, or ended by it: fence, node and start are known
	reaped   bool                 // its last run ended with its node
	revived  []revival            // when Reap made it ready
}

// revival is a crash that is taken back if the node says that it lived.
type revival struct {
	node    fairlead.NodeID
	attempt int // index in attempts
}

type lifetime struct {
	until time.Time
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

// ids of all jobs, in order.
func (o *oracle) ids() []int64 { return slices.Sorted(maps.Keys(o.records)) }

// in lists the jobs in a state, in order of their IDs.
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

// holder is the job that holds the key of this one, if there is any.
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

// refuses reports whether Enqueue conflicts over the job's key.
func (o *oracle) refuses(job *fairlead.Job) bool {
	holder := o.holder(job)
	switch {
	case job.Key == "" || holder == nil || job.OnDuplicate == fairlead.KeepDuplicate:
		return false
	case job.OnDuplicate == fairlead.ReplaceDuplicate:
		return holder.State != fairlead.Scheduled && holder.State != fairlead.Parked && holder.State != fairlead.Ready
	}
	return true
}

// enqueue notes a job that the store has accepted, with the ID it got.
func (o *oracle) enqueue(job fairlead.Job) {
	if _, kept := o.records[job.ID]; kept {
		return
	}
	if holder := o.holder(&job); job.Key != "" && holder != nil { // replaced
		o.end(holder, fairlead.Cancelled, fairlead.ReasonReplaced, fmt.Sprintf("replaced by job %d", job.ID))
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

// await puts a job into ready, parked or scheduled.
func (o *oracle) await(r *record, due time.Time) {
	r.State, r.NotBefore, r.ran, r.wish, r.answer, r.Deadline = fairlead.Ready, due, false, nil, nil, time.Time{}
	switch {
	case due.After(o.now):
		r.State = fairlead.Scheduled
	case r.ConcurrencyKey != "" && !r.admitted:
		r.State = fairlead.Parked
	}
}

// end finishes a job.
func (o *oracle) end(r *record, state fairlead.State, reason fairlead.Reason, text string) {
	r.State, r.FinishedAt, r.Reason, r.Error = state, o.now, reason, text
	r.wish, r.answer, r.Deadline, r.admitted = nil, nil, time.Time{}, false
	if r.KeyScope != fairlead.KeyForever {
		o.dropKey(&r.Job)
	}
}

// suspect reports whether a ready job is claimed by Solo claims only.
func (r *record) suspect() bool { return r.Crashes >= driver.SoloAfter }

// alive reports whether a node has a live lease.
func (o *oracle) alive(node fairlead.NodeID) bool {
	l := o.nodes[node]
	return l != nil && !l.dead && o.now.Before(l.until)
}

// claimable lists the IDs that a claim should return.
func (o *oracle) claimable(claim driver.Claim) []int64 {
	var ready []*fairlead.Job
	for _, r := range o.in(fairlead.Ready) {
		paused := o.paused[queuePause(r.Queue)] || o.paused[kindPause(r.Kind)]
		if r.suspect() == claim.Solo && !paused && slices.Contains(claim.Scope.Kinds, r.Kind) {
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

// lease notes that a job was claimed under a fence.
func (o *oracle) lease(r *record, node fairlead.NodeID, fence int64) {
	r.State, r.Node, r.Fence, r.StartedAt, r.ran = fairlead.Running, node, fence, o.now, true
	r.answered, r.reaped = nil, false
	r.Attempt++
}

// settle is one settlement.
func (o *oracle) settle(s fairlead.Settlement) fairlead.Settled {
	r := o.records[s.ID]
	switch {
	case r == nil || !r.ran || r.Fence != s.Fence || r.reaped:
		return lost
	case r.State == fairlead.Succeeded && s.Move != fairlead.Succeed && s.Move != fairlead.MoveAwait:
		return lost // it was another settlement that ended it
	case r.State.Final():
		return asAsked // by the same fence, before
	case r.State != fairlead.Running:
		return lost
	}
	if s.Memo != nil {
		r.Memo = s.Memo
	}
	if s.Progress != nil {
		r.Progress = s.Progress
	}
	if s.Move == fairlead.MoveAwait && r.answer != nil {
		r.answered = r.answer
		s = *r.answer
	}
	if r.wish != nil && s.Move != fairlead.Succeed && s.Move != fairlead.Fail {
		r.answered = nil // with a retry, which does not count
		o.end(r, fairlead.Cancelled, fairlead.ReasonNone, *r.wish)
		return cancelled
	}
	o.move(r, s)
	return asAsked
}

// move is what a settlement or an answer does to a running or waiting job.
func (o *oracle) move(r *record, s fairlead.Settlement) {
	switch s.Move {
	case fairlead.Succeed:
		o.end(r, fairlead.Succeeded, fairlead.ReasonNone, "")
		r.Output = s.Output
	case fairlead.Fail:
		r.Failures++
		r.attempts = append(r.attempts, s.Reason)
		o.end(r, fairlead.Failed, s.Reason, s.Error)
	case fairlead.Drop:
		o.end(r, fairlead.Cancelled, s.Reason, s.Error)
	case fairlead.Again:
		r.Failures++
		r.attempts = append(r.attempts, s.Reason)
		o.await(r, o.now.Add(s.After))
	case fairlead.Snooze:
		o.await(r, o.now.Add(s.After))
	case fairlead.MoveRelease:
		r.Attempt--
		o.await(r, o.now)
	case fairlead.MoveAwait:
		r.State, r.Deadline, r.answer = fairlead.Waiting, o.now.Add(s.After), nil
	}
}

// resolve is an answer for a waiting job. A nil error means that it counts, or
// counted before.
func (o *oracle) resolve(answer fairlead.Settlement) error {
	same := func(given *fairlead.Settlement) error {
		if given != nil && reflect.DeepEqual(*given, answer) {
			return nil
		}
		return fairlead.ErrConflict
	}
	r := o.records[answer.ID]
	switch {
	case r == nil:
		return fairlead.ErrNotFound
	case !r.ran || r.Fence != answer.Fence:
		return fairlead.ErrLeaseLost
	case r.State == fairlead.Running && r.answer != nil:
		return same(r.answer)
	case r.State == fairlead.Running:
		r.answer = &answer
	case r.expired || r.State == fairlead.Waiting && o.now.After(r.Deadline):
		return fairlead.ErrExpired
	case r.State == fairlead.Waiting:
		r.answered = &answer
		o.move(r, answer)
	default:
		return same(r.answered)
	}
	return nil
}

// save is Store.Save.
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
