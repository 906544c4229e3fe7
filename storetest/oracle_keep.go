package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// permit finds a job for a verb of the operator, and returns which error it gets
// if its state does not allow the verb.
func (o *oracle) permit(id int64, states ...fairlead.State) (*record, error) {
	r := o.records[id]
	switch {
	case r == nil:
		return nil, fairlead.ErrNotFound
	case !slices.Contains(states, r.State):
		return nil, fairlead.ErrConflict
	}
	return r, nil
}

func (o *oracle) cancel(id int64, reason string) error {
	r, err := o.permit(id, fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting)
	switch {
	case err != nil:
		return err
	case r.State == fairlead.Running && r.wish != nil: // the first counts
	case r.State == fairlead.Running:
		r.wish = &reason
	default:
		o.end(r, fairlead.Cancelled, fairlead.ReasonNone, reason)
	}
	return nil
}

func (o *oracle) reopen(id int64) error {
	r, err := o.permit(id, fairlead.Failed, fairlead.Cancelled)
	if err != nil {
		return err
	}
	if holder := o.holder(&r.Job); r.Key != "" && holder != nil && holder != r {
		return fairlead.ErrConflict
	}
	o.takeKey(&r.Job)
	r.Failures, r.Crashes, r.FinishedAt, r.Reason, r.Error, r.Output = 0, 0, time.Time{}, fairlead.ReasonNone, "", nil
	r.answered, r.expired, r.vague = nil, false, false
	o.await(r, o.now)
	return nil
}

func (o *oracle) reschedule(id int64, at time.Time) error {
	r, err := o.permit(id, fairlead.Scheduled, fairlead.Parked, fairlead.Ready)
	if err != nil {
		return err
	}
	o.meanFor(r, at)
	r.admitted = r.admitted && !at.After(o.now)
	o.await(r, at)
	return nil
}

// meanFor changes when a job is meant to run. StartBy moves along if it was
// that time.
func (o *oracle) meanFor(r *record, at time.Time) {
	if r.StartBy.Equal(r.due) {
		r.StartBy = at
	}
	r.due = at
}

func (o *oracle) runNow(id int64) error {
	r, err := o.permit(id, fairlead.Scheduled, fairlead.Parked, fairlead.Ready)
	if err != nil || r.State != fairlead.Scheduled {
		return err
	}
	if r.due.After(o.now) {
		o.meanFor(r, o.now)
	}
	o.await(r, o.now)
	return nil
}

func (o *oracle) setPriority(id int64, priority int) error {
	r, err := o.permit(id, fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting)
	if err == nil {
		r.Priority = priority
	}
	return err
}

func (o *oracle) delete(id int64) error {
	r, err := o.permit(id, append(except(fairlead.Running, fairlead.Waiting), fairlead.Parked)...)
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

// reap takes all jobs of dead nodes back.
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
		reason := fairlead.ReasonCrash
		if node := o.nodes[r.Node]; node != nil && node.lived {
			reason = fairlead.ReasonLeaseLost
		} else {
			r.Crashes++
		}
		r.reaped = true
		r.attempts = append(r.attempts, reason)
		switch {
		case r.wish != nil:
			o.end(r, fairlead.Cancelled, fairlead.ReasonNone, *r.wish)
			reaped.Cancelled++
		case r.OnCrash == fairlead.CancelOnCrash:
			o.end(r, fairlead.Cancelled, fairlead.ReasonCrash, "")
			r.vague = true
			reaped.Cancelled++
		case r.Crashes > maxCrashes && reason == fairlead.ReasonCrash:
			o.end(r, fairlead.Failed, fairlead.ReasonPoison, "")
			r.vague = true
			reaped.Poisoned++
		default:
			r.revived = append(r.revived, revival{r.Node, len(r.attempts) - 1})
			o.await(r, o.now)
			reaped.Jobs++
		}
	}
	return reaped
}

// lived takes back the crashes of a node whose process lives.
func (o *oracle) lived(node fairlead.NodeID) {
	o.nodes[node].lived = true
	for _, r := range o.records {
		r.revived = slices.DeleteFunc(r.revived, func(v revival) bool {
			if v.node != node {
				return false
			}
			if counted := r.attempts[v.attempt] == fairlead.ReasonCrash; counted && !r.State.Final() {
				r.Crashes = max(0, r.Crashes-1)
			}
			r.attempts[v.attempt] = fairlead.ReasonLeaseLost
			return true
		})
	}
}

func (o *oracle) expire() int {
	n := 0
	for _, r := range o.in(fairlead.Waiting) {
		if o.now.After(r.Deadline) {
			r.Failures++
			r.attempts = append(r.attempts, fairlead.ReasonDeadline)
			o.end(r, fairlead.Failed, fairlead.ReasonDeadline, "")
			r.expired, r.vague = true, true
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

// wishes lists what a node should be asked to stop.
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
