package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// permit returns the job for an operator's action, or the error if the job's state does not
// allow the action.
func (o *oracle) permit(action fairlead.Op, id int64) (*record, error) {
	r := o.records[id]
	if r == nil {
		return nil, fairlead.ErrNotFound
	}
	return r, verdict.Permit(action, id, r.State)
}

func (o *oracle) cancel(id int64, reason string) error {
	r, err := o.permit(fairlead.OpCancel, id)
	switch {
	case err != nil:
		return err
	case verdict.Asked(r.State) && r.wish != nil: // the first request counts
	case verdict.Asked(r.State):
		r.wish = &reason
	default:
		o.become(r, verdict.Cancel(reason))
	}
	return nil
}

func (o *oracle) reopen(id int64) error {
	r, err := o.permit(fairlead.OpReopen, id)
	if err != nil {
		return err
	}
	if holder := o.holder(&r.Job); r.Key != "" && holder != nil && holder != r {
		return fairlead.ErrConflict
	}
	o.takeKey(&r.Job)
	r.Failures, r.Crashes, r.FinishedAt, r.Reason, r.Error, r.Output = 0, 0, time.Time{}, fairlead.ReasonNone, "", nil
	if r.due.After(o.now) {
		o.meanFor(r, o.now)
	}
	o.await(r, o.now)
	return nil
}

func (o *oracle) reschedule(id int64, at time.Time) error {
	r, err := o.permit(fairlead.OpReschedule, id)
	if err != nil {
		return err
	}
	o.meanFor(r, at)
	r.admitted = r.admitted && !at.After(o.now)
	o.await(r, at)
	return nil
}

// meanFor changes the due time of a job. StartBy changes with it if the two were equal.
func (o *oracle) meanFor(r *record, at time.Time) {
	if r.StartBy.Equal(r.due) {
		r.StartBy = at
	}
	r.due = at
}

func (o *oracle) runNow(id int64) error {
	r, err := o.permit(fairlead.OpRunNow, id)
	if err != nil || verdict.Moot(fairlead.OpRunNow, r.State) {
		return err
	}
	if r.due.After(o.now) {
		o.meanFor(r, o.now)
	}
	o.await(r, o.now)
	return nil
}

func (o *oracle) setPriority(id int64, priority int) error {
	r, err := o.permit(fairlead.OpSetPriority, id)
	if err == nil {
		r.Priority = priority
	}
	return err
}

func (o *oracle) setQueue(id int64, queue string) error {
	r, err := o.permit(fairlead.OpSetQueue, id)
	if err == nil {
		r.Queue = queue
	}
	return err
}

func (o *oracle) delete(id int64) error {
	r, err := o.permit(fairlead.OpDelete, id)
	if err == nil {
		o.remove(r)
	}
	return err
}

func (o *oracle) remove(r *record) {
	o.dropKey(&r.Job)
	delete(o.records, r.ID)
}

func (o *oracle) promote() driver.Promotion {
	promotion := driver.Promotion{Next: -1}
	for _, r := range o.in(fairlead.Scheduled) {
		if wait := r.NotBefore.Sub(o.now); wait > 0 {
			if promotion.Next < 0 || wait < promotion.Next {
				promotion.Next = wait
			}
			continue
		}
		o.await(r, o.now)
		promotion.Moved++
	}
	return promotion
}

// reap takes back all jobs of dead nodes.
func (o *oracle) reap(maxCrashes int) driver.Reaped {
	var reaped driver.Reaped
	for _, node := range o.nodes {
		if !node.dead && !o.now.Before(node.until) {
			node.dead = true
			reaped.Nodes++
		}
	}
	for _, r := range o.in(fairlead.Running) {
		if o.alive(r.Node) {
			continue
		}
		node := o.nodes[r.Node]
		if node == nil { // the node was forgotten
			node = &lifetime{}
		}
		loss := verdict.TakeBack(verdict.Orphan{
			Node: int64(r.Node), Heard: node.heard, Lived: node.lived, Wish: r.wish, CancelOnCrash: r.OnCrash == fairlead.CancelOnCrash, Crashes: r.Crashes,
		}, maxCrashes)
		loss.Count(&reaped)
		o.note(r, loss.RunReason, loss.RunError)
		if loss.Revocable {
			r.revived = append(r.revived, revival{r.Node, len(r.attempts) - 1})
		}
		r.reaped, r.Crashes = true, loss.Crashes
		o.become(r, loss.Next)
	}
	return reaped
}

// lived withdraws the crashes of a node whose process lives.
func (o *oracle) lived(node fairlead.NodeID) {
	o.nodes[node].lived = true
	for _, r := range o.records {
		r.revived = slices.DeleteFunc(r.revived, func(v revival) bool {
			if v.node != node {
				return false
			}
			if !r.State.Final() {
				r.Crashes = verdict.Uncrashed(r.Crashes)
			}
			crash := &r.attempts[v.attempt]
			crash.Reason, crash.Error = verdict.Lived(int64(node))
			return true
		})
	}
}

func (o *oracle) expire() int {
	n := 0
	for _, r := range o.in(fairlead.Waiting) {
		if o.now.After(r.Deadline) {
			o.become(r, verdict.Expire(r.retry))
			n++
		}
	}
	return n
}

func (o *oracle) prune(keep driver.Retention) int {
	n := 0
	for state, retention := range map[fairlead.State]time.Duration{
		fairlead.Succeeded: keep.Succeeded, fairlead.Failed: keep.Failed, fairlead.Cancelled: keep.Cancelled,
	} {
		for _, r := range o.in(state) {
			if retention > 0 && o.now.Sub(r.FinishedAt) > retention {
				o.remove(r)
				n++
			}
		}
	}
	return n
}

// wishes returns the jobs that a node should be requested to stop.
func (o *oracle) wishes(node fairlead.NodeID) []driver.Held {
	var list []driver.Held
	for _, r := range o.in(fairlead.Running) {
		if r.Node == node && r.wish != nil {
			list = append(list, driver.Held{ID: r.ID, Fence: r.Fence})
		}
	}
	return list
}

func byID(a, b driver.Held) int { return cmp.Compare(a.ID, b.ID) }
