package storetest

import (
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Resolve answers a job that is running or waiting, or was.
func (m *model) Resolve(rt *rapid.T) {
	lease := m.anyLease(rt)
	answer := fairlead.Settlement{ID: lease.ID, Fence: lease.Fence, FreeKey: true}
	answer.Move = rapid.SampledFrom(answers()).Draw(rt, "move")
	m.fill(rt, &answer)
	m.agree(m.store.Resolve(m.ctx(), answer), m.oracle.resolve(answer))
}

// Await makes a running job wait; an answer may have arrived before.
func (m *model) Await(rt *rapid.T) {
	job := m.anyRunning(rt)
	if rapid.Bool().Draw(rt, "answered early") {
		early := to(rapid.SampledFrom(answers()).Draw(rt, "answer"), job)
		m.fill(rt, &early)
		m.agree(m.store.Resolve(m.ctx(), early), m.oracle.resolve(early))
	}
	await := to(fairlead.MoveAwait, job)
	m.fill(rt, &await)
	m.settleBoth(await)
}

// Finish settles all running jobs, possibly after a requested cancellation.
func (m *model) Finish(rt *rapid.T) {
	running := m.oracle.in(fairlead.Running)
	if len(running) == 0 {
		rt.SkipNow()
	}
	var settlements []fairlead.Settlement
	for _, r := range running {
		m.drawn = append(m.drawn, r.ID)
		if rapid.Bool().Draw(rt, "unwanted") {
			m.agree(operations(m.store).Cancel(m.ctx(), r.ID, "unwanted"), m.oracle.cancel(r.ID, "unwanted"))
		}
		settlement := to(anyMove(rt), &r.Job)
		m.fill(rt, &settlement)
		settlements = append(settlements, settlement)
	}
	m.settleBoth(settlements...)
}

// answers returns the moves that Resolve accepts.
func answers() []fairlead.Move {
	return []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again}
}

// anyRunning returns a random running job, if there is one.
func (m *model) anyRunning(rt *rapid.T) *fairlead.Job {
	running := m.oracle.in(fairlead.Running)
	if len(running) == 0 {
		rt.SkipNow()
	}
	job := &running[rapid.IntRange(0, len(running)-1).Draw(rt, "running")].Job
	m.drawn = append(m.drawn, job.ID)
	return job
}

// Save saves the progress of a run.
func (m *model) Save(rt *rapid.T) {
	lease := m.anyLease(rt)
	save := fairlead.Save{ID: lease.ID, Fence: lease.Fence}
	if rapid.Bool().Draw(rt, "with memo") {
		save.Memo = json.RawMessage(`"saved"`)
	} else {
		save.Progress = json.RawMessage(`0.5`)
	}
	m.agree(m.store.Save(m.ctx(), save), m.oracle.save(lease.ID, lease.Fence, save.Progress, save.Memo))
}

// Cancel cancels a random job.
func (m *model) Cancel(rt *rapid.T) {
	id := m.any(rt)
	reason := rapid.SampledFrom([]string{"unwanted", "late", ""}).Draw(rt, "reason")
	m.agree(operations(m.store).Cancel(m.ctx(), id, reason), m.oracle.cancel(id, reason))
}

// Reopen reopens a random job.
func (m *model) Reopen(rt *rapid.T) {
	id := m.any(rt)
	m.agree(operations(m.store).Reopen(m.ctx(), id), m.oracle.reopen(id))
}

// Reschedule reschedules a random job.
func (m *model) Reschedule(rt *rapid.T) {
	id, at := m.any(rt), m.oracle.now.Add(seconds(rt, -1, 3, "delay"))
	m.agree(operations(m.store).Reschedule(m.ctx(), id, at), m.oracle.reschedule(id, at))
}

// RunNow makes a random job ready.
func (m *model) RunNow(rt *rapid.T) {
	id := m.any(rt)
	m.agree(operations(m.store).RunNow(m.ctx(), id), m.oracle.runNow(id))
}

// SetPriority changes the priority of a random job.
func (m *model) SetPriority(rt *rapid.T) {
	id, priority := m.any(rt), rapid.IntRange(-2, 2).Draw(rt, "priority")
	m.agree(operations(m.store).SetPriority(m.ctx(), id, priority), m.oracle.setPriority(id, priority))
}

// SetQueue moves a random job to another queue.
func (m *model) SetQueue(rt *rapid.T) {
	id, queue := m.any(rt), rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "queue")
	m.agree(operations(m.store).SetQueue(m.ctx(), id, queue), m.oracle.setQueue(id, queue))
}

// Delete deletes a random job.
func (m *model) Delete(rt *rapid.T) {
	id := m.any(rt)
	m.agree(operations(m.store).Delete(m.ctx(), id), m.oracle.delete(id))
	if m.oracle.records[id] == nil {
		m.wantGone(&fairlead.Job{ID: id})
	}
}

// Pause pauses or resumes a random queue, tenant or kind.
func (m *model) Pause(rt *rapid.T) {
	pause := rapid.SampledFrom([]fairlead.Pause{queuePause("x"), kindPause("a")}).Draw(rt, "what")
	if rapid.IntRange(0, 2).Draw(rt, "resume") > 0 {
		m.resume(pause)
		delete(m.oracle.paused, pause)
	} else {
		m.pause(pause)
		m.oracle.paused[pause] = true
	}
}

// Widen changes the number of jobs that gates admit.
func (m *model) Widen(rt *rapid.T) {
	kind, places := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind"), rapid.IntRange(0, 3).Draw(rt, "places")
	m.perKey(kind, places)
	m.oracle.perKey[kind] = places
}

// Join adds a node.
func (m *model) Join(rt *rapid.T) {
	lease := seconds(rt, 1, 30, "lease") + half
	id := m.joinFor(lease)
	m.nodes = append(m.nodes, id)
	m.oracle.nodes[id] = &lifetime{until: m.oracle.now.Add(lease), heard: m.oracle.now}
}

// Beat sends a heartbeat for a node, live or dead.
func (m *model) Beat(rt *rapid.T) {
	node, lease := m.anyNode(rt), seconds(rt, 1, 30, "lease")+half
	answer, err := m.store.Beat(m.ctx(), driver.Beat{Node: node, Lease: lease})
	if !m.oracle.alive(node) {
		m.wantErr(err, fairlead.ErrLeaseLost)
		return
	}
	m.ok(err)
	m.oracle.nodes[node].until, m.oracle.nodes[node].heard = m.oracle.now.Add(lease), m.oracle.now
	slices.SortFunc(answer.Cancel, byID)
	m.equal("what the node hears", answer.Cancel, m.oracle.wishes(node))
}

// Leave ends a node.
func (m *model) Leave(rt *rapid.T) {
	node := m.anyNode(rt)
	m.ok(m.store.Leave(m.ctx(), node))
	m.oracle.nodes[node].dead = true
}

// Lived reports that a node lives, live or dead.
func (m *model) Lived(rt *rapid.T) {
	node := m.anyNode(rt)
	m.ok(m.store.Lived(m.ctx(), node))
	m.oracle.lived(node)
}

// Crash ends a node that holds a job, and takes back the job.
func (m *model) Crash(rt *rapid.T) {
	node := m.anyRunning(rt).Node
	m.ok(m.store.Leave(m.ctx(), node))
	m.oracle.nodes[node].dead = true
	m.Reap(rt)
	m.Join(rt)
}

// Time advances the clock.
func (m *model) Time(rt *rapid.T) {
	d := seconds(rt, 1, 4, "seconds")
	m.Advance(d)
	m.oracle.now = m.oracle.now.Add(d)
	m.equal("the clock", m.now(), m.oracle.now)
}

// Promote promotes due jobs.
func (m *model) Promote(*rapid.T) {
	got, want := m.promote(), m.oracle.promote()
	got.Next = max(got.Next, -1) // any negative number means none
	m.equal("the promotion", got, want)
}

// Reap takes back the jobs of dead nodes.
func (m *model) Reap(rt *rapid.T) {
	maxCrashes := rapid.SampledFrom([]int{1, patience, patience, patience}).Draw(rt, "max crashes")
	got, err := m.store.Reap(m.ctx(), driver.Reap{MaxCrashes: maxCrashes, Limit: 1000})
	m.ok(err)
	m.equal("what is reaped", got, m.oracle.reap(maxCrashes))
}

// Expire fails jobs that were not answered in time.
func (m *model) Expire(*rapid.T) {
	got, err := expireOverdue(m.ctx(), m.store, 1000)
	m.ok(err)
	m.equal("how many expired", got, m.oracle.expire())
}

// Prune deletes jobs that ended some time ago.
func (m *model) Prune(rt *rapid.T) {
	keep := driver.Retention{Succeeded: 2*time.Second + half, Failed: 3*time.Second + half}
	if rapid.Bool().Draw(rt, "cancelled too") {
		keep.Cancelled = time.Second + half
	}
	got, err := m.store.Prune(m.ctx(), keep, 1000)
	m.ok(err)
	m.equal("how many were pruned", got, m.oracle.prune(keep))
}
