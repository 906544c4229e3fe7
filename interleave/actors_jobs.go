package interleave

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// operate applies an operation to the job.
func (c *cue) operate(operation fairlead.Operation) string {
	return verdict(c.store.Operate(c.ctx, c.job.ID, operation))
}

// operating returns an actor's function that applies an operation to the job.
func operating(operation fairlead.Operation) func(c *cue) string {
	return func(c *cue) string { return c.operate(operation) }
}

// jobActors returns the operations on jobs.
func jobActors() []Actor {
	plainly, job := []Trait{hasPlain}, []Trait{hasJob}
	return []Actor{
		{Name: "enqueue", On: plainly, Do: func(c *cue) string { return c.adds() }},
		{Name: "enqueue behind the gate", On: []Trait{hasGate}, Do: func(c *cue) string { return c.adds(behind("g")) }},
		{Name: "enqueue at the cap", On: []Trait{hasLimit}, Do: func(c *cue) string { return c.adds(forTenant("acme")) }},
		{Name: "enqueue, refuse a duplicate", On: []Trait{hasKey}, Waits: true, Do: func(c *cue) string { return c.adds(keyed("k")) }},
		{Name: "enqueue, keep a duplicate", On: []Trait{hasKey}, Waits: true, Do: func(c *cue) string {
			return c.adds(keyed("k"), onDuplicate(fairlead.KeepDuplicate))
		}},
		{Name: "enqueue, replace a duplicate", On: []Trait{hasKey}, Waits: true, Do: func(c *cue) string {
			return c.adds(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate))
		}},
		{Name: "cancel", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpCancel, Reason: "no longer wanted"})},
		{Name: "retry", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpReopen})},
		{Name: "reschedule", On: job, Waits: true, Do: func(c *cue) string {
			return c.operate(fairlead.Operation{Op: fairlead.OpReschedule, NotBefore: c.now().Add(time.Hour)})
		}},
		{Name: "reschedule to now", On: job, Waits: true, Do: func(c *cue) string {
			return c.operate(fairlead.Operation{Op: fairlead.OpReschedule, NotBefore: c.now()})
		}},
		{Name: "run now", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpRunNow})},
		{Name: "set the priority", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpSetPriority, Priority: 7})},
		{Name: "move to another queue", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpSetQueue, Queue: "spare"})},
		{Name: "delete", On: job, Waits: true, Do: operating(fairlead.Operation{Op: fairlead.OpDelete})},
		{Name: "delete as seen", On: job, Waits: true, Do: func(c *cue) string {
			return c.operate(fairlead.Operation{Op: fairlead.OpDelete, Seen: c.seen})
		}},
		{Name: "step of a bulk", On: []Trait{hasBulk}, Waits: true, Do: stepBulk},
		{Name: "stop the bulk", On: []Trait{hasBulk}, Do: func(c *cue) string { return verdict(c.store.StopBulk(c.ctx, c.bulk)) }},
		{Name: "pause the queue", On: plainly, Do: func(c *cue) string {
			return verdict(c.store.Pause(c.ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: fairlead.DefaultQueue}))
		}},
		{Name: "resume the queue", On: []Trait{hasPause}, Do: func(c *cue) string {
			return verdict(c.store.Resume(c.ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: fairlead.DefaultQueue}))
		}},
		{Name: "lower the cap", On: []Trait{hasLimit}, Do: func(c *cue) string { return c.limitTenant(fairlead.Tenant{MaxRunning: 1, Rate: 5}) }},
		{Name: "raise the cap", On: []Trait{hasLimit}, Do: func(c *cue) string { return c.limitTenant(fairlead.Tenant{MaxRunning: 5}) }},
		{Name: "remove the limit", On: []Trait{hasLimit}, Do: func(c *cue) string { return verdict(c.store.DeleteTenant(c.ctx, "acme")) }},
		{Name: "limit the kind", On: plainly, Do: func(c *cue) string {
			return verdict(c.store.SetLimit(c.ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, MaxRunning: 2}))
		}},
		{Name: "widen the gate", On: []Trait{hasGate}, Do: func(c *cue) string {
			return verdict(c.store.SetLimit(c.ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, PerKey: 2}))
		}},
		{Name: "dispatch fairly", On: plainly, Do: func(c *cue) string {
			return verdict(c.store.SetLimit(c.ctx, fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, Order: fairlead.OrderFair}))
		}},
	}
}

// adds enqueues a job.
func (c *cue) adds(changes ...func(*fairlead.Job)) string {
	job := plain(changes...)
	err := enqueueIn(c.ctx, c.store, job)
	if err == nil && c.labelOf(job.ID) != "" {
		return "kept " + c.labelOf(job.ID)
	}
	if err == nil {
		c.acknowledge(job.ID)
	}
	return verdict(err)
}

// limitTenant changes the limits of the tenant acme.
func (c *cue) limitTenant(change fairlead.Tenant) string {
	tenant := c.tenant
	tenant.MaxRunning, tenant.Rate = change.MaxRunning, change.Rate
	if err := fairlead.NormalizeTenant(&tenant); err != nil {
		return verdict(err)
	}
	_, err := c.store.PutTenant(c.ctx, tenant)
	return verdict(err)
}

// runActors returns the operations of nodes on running jobs, and of callers on waiting jobs.
func runActors() []Actor {
	run, wait := []Trait{hasRun}, []Trait{hasWait}
	return []Actor{
		{Name: "settle: succeed", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Succeed, Output: json.RawMessage(`"done"`)})
		}},
		{Name: "settle: fail", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no luck"})
		}},
		{Name: "settle: again", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Again, After: time.Minute, Reason: fairlead.ReasonError, Error: "no luck"})
		}},
		{Name: "settle: again at once", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Again, Reason: fairlead.ReasonError, Error: "no luck"})
		}},
		{Name: "settle: snooze", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Snooze, After: time.Minute, Memo: json.RawMessage(`"half"`)})
		}},
		{Name: "settle: drop", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.Drop, Error: "not needed"})
		}},
		{Name: "settle: release", On: run, Do: func(c *cue) string { return c.settle(fairlead.Settlement{Move: fairlead.MoveRelease}) }},
		{Name: "settle: await", On: run, Do: func(c *cue) string {
			return c.settle(fairlead.Settlement{Move: fairlead.MoveAwait, After: time.Hour})
		}},
		{Name: "settle: replace", On: run, Do: func(c *cue) string {
			successor := plain(keyed("successor"))
			if err := fairlead.NormalizeJobs([]*fairlead.Job{successor}); err != nil {
				return verdict(err)
			}
			return c.settle(fairlead.Settlement{Move: fairlead.Succeed, Replace: successor})
		}},
		{Name: "save", On: run, Do: func(c *cue) string {
			run := c.tenure()
			return run.ends(verdict(c.store.Save(c.ctx, fairlead.Save{ID: c.job.ID, Fence: c.job.Fence, Progress: json.RawMessage(`50`), Memo: json.RawMessage(`"saved"`)})))
		}},
		{Name: "answer: success", On: run, Waits: true, Do: func(c *cue) string {
			return c.resolve(fairlead.Settlement{Move: fairlead.Succeed, Output: json.RawMessage(`"answered"`)})
		}},
		{Name: "answer: failure", On: run, Waits: true, Do: func(c *cue) string {
			return c.resolve(fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "refused"})
		}},
		{Name: "extend", On: wait, Waits: true, Do: func(c *cue) string {
			_, err := c.store.Extend(c.ctx, fairlead.Extension{ID: c.job.ID, Fence: c.job.Fence, For: 2 * time.Hour, Told: json.RawMessage(`"going on"`)})
			return verdict(err)
		}},
	}
}

// settle settles the run of the subject.
func (c *cue) settle(s fairlead.Settlement) string {
	s.ID, s.Fence, s.FreeKey = c.job.ID, c.job.Fence, true
	run := c.tenure()
	settled, err := c.store.Settle(c.ctx, []fairlead.Settlement{s})
	if err != nil {
		return verdict(err)
	}
	return run.ends(settledAs(settled[0]))
}

// settleBoth settles two runs in one call.
func (c *cue) settleBoth(jobs ...*fairlead.Job) string {
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, FreeKey: true, Move: fairlead.Succeed}
	}
	settled, err := c.store.Settle(c.ctx, settlements)
	results := make([]string, len(settled))
	for i := range settled {
		if settled[i] == fairlead.SettledHeld {
			return busy
		}
		results[i] = c.names(jobs[i].ID) + " " + settledAs(settled[i])
	}
	slices.Sort(results)
	return answered(err, strings.Join(results, ", "))
}

// settledAs names the answer to a settlement.
func settledAs(s fairlead.Settled) string {
	return map[fairlead.Settled]string{
		fairlead.SettledAsAsked: "as asked", fairlead.SettledCancelled: "cancelled", fairlead.SettledLost: "lost", fairlead.SettledHeld: busy,
	}[s]
}

func (c *cue) resolve(s fairlead.Settlement) string {
	s.ID, s.Fence = c.job.ID, c.job.Fence
	run := c.tenure()
	return run.answered(verdict(c.store.Resolve(c.ctx, s)))
}

// nodeActors returns the loops of nodes.
func nodeActors() []Actor {
	job, run, held, two := []Trait{hasJob}, []Trait{hasRun}, []Trait{hasPlain, hasRun}, []Trait{hasTwo}
	return []Actor{
		{Name: "join", On: held, Do: func(c *cue) string {
			_, err := c.store.Join(c.ctx, fairlead.Node{Name: "a third node", Kinds: kinds(), Slots: 10}, lease)
			return verdict(err)
		}},
		{Name: "settle both runs", On: two, Do: func(c *cue) string { return c.settleBoth(c.job, c.other) }},
		{Name: "settle both runs, the later one first", On: two, Do: func(c *cue) string { return c.settleBoth(c.other, c.job) }},
		{Name: "claim", On: job, Repeats: true, Do: func(c *cue) string { return c.claims(driver.Claim{Max: 1}) }},
		{Name: "claim all", On: job, Repeats: true, Do: func(c *cue) string { return c.claims(driver.Claim{Max: 10}) }},
		{Name: "claim as the holder", On: held, Repeats: true, Do: func(c *cue) string { return c.claims(driver.Claim{Node: c.holder, Max: 10}) }},
		{Name: "claim from the spare queue", On: []Trait{hasSpare}, Repeats: true, Do: func(c *cue) string {
			return c.claims(driver.Claim{Max: 10, Scope: &driver.Scope{Kinds: kinds(), Queues: []string{"spare"}}})
		}},
		{Name: "promote", On: job, Repeats: true, Do: func(c *cue) string {
			_, err := c.store.Promote(c.ctx, 100)
			return verdict(err)
		}},
		{Name: "reap", On: run, Repeats: true, Do: func(c *cue) string {
			_, err := c.store.Reap(c.ctx, c.reap())
			return verdict(err)
		}},
		{Name: "expire", On: []Trait{hasWait}, Repeats: true, Do: func(c *cue) string {
			overdue, err := c.store.Overdue(c.ctx, 100)
			if err == nil && len(overdue) > 0 {
				_, err = c.store.Expire(c.ctx, overdue)
			}
			return verdict(err)
		}},
		{Name: "prune", On: []Trait{hasEnded}, Repeats: true, Steps: true, Do: func(c *cue) string {
			_, err := c.store.Prune(c.ctx, keep(), 100)
			return verdict(err)
		}},
		{Name: "lived", On: []Trait{hasDead}, Waits: true, Do: func(c *cue) string { return verdict(c.store.Lived(c.ctx, c.holder)) }},
		{Name: "leave", On: held, Do: func(c *cue) string { return verdict(c.store.Leave(c.ctx, c.holder)) }},
		{Name: "drain", On: held, Do: func(c *cue) string { return verdict(c.store.Drain(c.ctx, c.holder, true)) }},
		{Name: "beat", On: run, Do: func(c *cue) string {
			answer, err := c.store.Beat(c.ctx, driver.Beat{Node: c.holder, Lease: lease})
			wishes := make([]string, len(answer.Cancel))
			for i, wish := range answer.Cancel {
				wishes[i] = "stop " + c.labelOf(wish.ID)
			}
			if answer.Drain {
				wishes = append(wishes, "drain")
			}
			return answered(err, strings.Join(wishes, ", "))
		}},
		{Name: "held", On: held, Do: func(c *cue) string {
			_, err := c.store.Held(c.ctx, c.holder)
			return verdict(err)
		}},
	}
}

// claims claims jobs for the free node, unless the claim names another.
func (c *cue) claims(claim driver.Claim) string {
	if claim.Node == 0 {
		claim.Node = c.free
	}
	if claim.Scope == nil {
		claim.Scope = everything()
	}
	jobs, err := c.store.Claim(c.ctx, claim)
	if err != nil {
		return verdict(err)
	}
	ids := make([]string, len(jobs))
	for i, job := range jobs {
		ids[i] = c.names(job.ID)
		c.leases(job)
	}
	return strings.Join(ids, ", ")
}
