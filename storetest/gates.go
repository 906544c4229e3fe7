package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// perKey sets the number of jobs that each gate of a kind admits.
func (f *fixture) perKey(kind string, places int) {
	f.Helper()
	f.limit(fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, PerKey: places})
}

// queueUp stores jobs behind one gate with a single slot: the first is ready, the others
// are parked.
func (f *fixture) queueUp(n int, changes ...func(*fairlead.Job)) []*fairlead.Job {
	f.Helper()
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		jobs[i] = f.enqueue(with(append([]func(*fairlead.Job){behind("g")}, changes...)...))
	}
	f.wantState(jobs[0], fairlead.Ready)
	for _, job := range jobs[1:] {
		f.wantState(job, fairlead.Parked)
	}
	return jobs
}

// wantNext checks that the first job has passed its slot to the second.
func (f *fixture) wantNext(jobs []*fairlead.Job) {
	f.Helper()
	f.wantState(jobs[1], fairlead.Ready)
	for _, job := range jobs[2:] {
		f.wantState(job, fairlead.Parked)
	}
}

func testGates(c *chapter) {
	c.test("a gate admits one job, the others are parked", func(f *fixture) {
		jobs := f.queueUp(3)
		f.wantClaim(f.join(), everything(), jobs[0])
		f.wantState(jobs[1], fairlead.Parked)
	})
	c.test("jobs of one call pass by order, as many as there are places", func(f *fixture) {
		f.perKey(kind, 2)
		jobs := []*fairlead.Job{with(behind("g")), with(behind("g"), priority(1)), with(behind("g")), with(behind("h"))}
		f.enqueue(jobs...)
		f.wantClaim(f.join(), everything(), jobs[1], jobs[0], jobs[3])
		f.wantState(jobs[2], fairlead.Parked)
	})
	c.test("a gate belongs to a kind, a tenant and a key", func(f *fixture) {
		for _, job := range []*fairlead.Job{
			with(behind("g")), with(behind("h")), with(behind("G")), with(behind("g"), forTenant("acme")), with(behind("g"), ofKind("other")),
			with(behind("g "), ofKind("other")), plain(), plain(),
		} {
			f.wantState(f.enqueue(job), fairlead.Ready)
		}
		f.wantState(f.enqueue(with(behind("g"), inQueue("another"))), fairlead.Parked)
	})
	c.test("a job is read with its concurrency key, and claimed with it", func(f *fixture) {
		jobs := f.queueUp(2)
		for _, job := range jobs {
			f.equal("its key", f.get(job).ConcurrencyKey, "g")
		}
		f.equal("what is claimed", f.claimOne(f.join()).ConcurrencyKey, "g")
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Running: 1, fairlead.Parked: 1})
		f.equal("what is parked", ids(f.find(fairlead.Filter{States: []fairlead.State{fairlead.Parked}})), ids(jobs[1:]))
	})
	c.test("a gate admits by priority, acceptable start and id", func(f *fixture) {
		f.enqueue(with(behind("g")))
		late := f.enqueue(with(behind("g"), startBy(f.now().Add(time.Hour))))
		second, third := f.enqueue(with(behind("g"))), f.enqueue(with(behind("g")))
		first := f.enqueue(with(behind("g"), priority(1)))
		node := f.join()
		f.settle(to(fairlead.Succeed, f.claimOne(node)))
		for _, next := range []*fairlead.Job{first, second, third, late} {
			f.settle(to(fairlead.Succeed, f.claimThe(next, node)))
		}
	})
	c.test("whoever ends gives its place to the next", func(f *fixture) {
		for name, end := range map[string]func(job *fairlead.Job){
			"succeed": func(job *fairlead.Job) { f.settle(to(fairlead.Succeed, job)) },
			"fail":    func(job *fairlead.Job) { f.settle(to(fairlead.Fail, job)) },
			"drop":    func(job *fairlead.Job) { f.settle(to(fairlead.Drop, job)) },
			"replaced by its handler": func(job *fairlead.Job) {
				heir := with(behind("g"), forTenant(job.Tenant), inQueue(job.Queue))
				f.ok(fairlead.NormalizeJobs([]*fairlead.Job{heir}))
				settlement := to(fairlead.Succeed, job)
				settlement.Replace = heir
				f.settle(settlement)
				f.wantState(heir, fairlead.Parked)
			},
			"cancelled while it failed": func(job *fairlead.Job) {
				f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
				f.wantSettled([]fairlead.Settled{cancelled}, again(job, time.Minute))
			},
			"cancelled while it was to wait": func(job *fairlead.Job) {
				f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
				f.wantSettled([]fairlead.Settled{cancelled}, wait(job))
			},
			"poisoned": func(job *fairlead.Job) {
				f.ok(f.store.Leave(f.ctx(), job.Node))
				_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 0, Limit: 10})
				f.ok(err)
			},
			"cancelled while it waits": func(job *fairlead.Job) {
				f.settle(wait(job))
				f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
			},
			"answered": func(job *fairlead.Job) {
				f.settle(wait(job))
				f.ok(f.store.Resolve(f.ctx(), to(fairlead.Succeed, job)))
			},
			"answered early": func(job *fairlead.Job) {
				f.ok(f.store.Resolve(f.ctx(), to(fairlead.Fail, job)))
				f.settle(wait(job))
			},
			"expired": func(job *fairlead.Job) {
				f.settle(wait(job))
				f.Advance(2 * time.Hour)
				_, err := expireOverdue(f.ctx(), f.store, 10)
				f.ok(err)
			},
		} {
			tenant := forTenant(name)
			jobs := f.queueUp(3, tenant, inQueue(name))
			claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: &driver.Scope{Queues: []string{name}, Kinds: []string{kind}}, Max: 10})
			f.equal(name+": what was claimed", ids(claimed), ids(jobs[:1]))
			end(claimed[0])
			f.wantNext(jobs)
		}
	})
	c.test("whoever is cancelled, deleted or put off before it starts gives its place to the next", func(f *fixture) {
		for name, end := range map[string]func(id int64) error{
			"cancel":     func(id int64) error { return operations(f.store).Cancel(f.ctx(), id, "") },
			"delete":     func(id int64) error { return operations(f.store).Delete(f.ctx(), id) },
			"reschedule": func(id int64) error { return operations(f.store).Reschedule(f.ctx(), id, f.now().Add(time.Hour)) },
		} {
			jobs := f.queueUp(3, forTenant(name))
			f.ok(end(jobs[0].ID))
			f.wantNext(jobs)
		}
	})
	c.test("a replaced job gives its place to the next", func(f *fixture) {
		holder := f.enqueue(with(behind("g"), keyed("k")))
		next := f.enqueue(with(behind("g")))
		heir := f.enqueue(with(behind("g"), keyed("k"), onDuplicate(fairlead.ReplaceDuplicate), priority(-1)))
		f.wantState(holder, fairlead.Cancelled)
		f.wantState(next, fairlead.Ready)
		f.wantState(heir, fairlead.Parked)
		last := f.enqueue(with(behind("g"), keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		f.wantState(heir, fairlead.Cancelled)
		f.wantState(last, fairlead.Parked)
	})
	c.test("a job keeps its place while it waits for its next attempt or an answer, or is taken back", func(f *fixture) {
		for name, pause := range map[string]func(job *fairlead.Job){
			"again":   func(job *fairlead.Job) { f.settle(again(job, time.Hour)) },
			"at once": func(job *fairlead.Job) { f.settle(again(job, 0)) },
			"release": func(job *fairlead.Job) { f.settle(to(fairlead.MoveRelease, job)) },
			"wait":    func(job *fairlead.Job) { f.settle(wait(job)) },
			"crash":   func(job *fairlead.Job) { f.crash(job) },
		} {
			jobs := f.queueUp(2, forTenant(name), inQueue(name))
			scope := &driver.Scope{Queues: []string{name}, Kinds: []string{kind}}
			pause(f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 1})[0])
			f.promote()
			f.wantState(jobs[1], fairlead.Parked)
			if state := f.get(jobs[0]).State; state == fairlead.Parked {
				f.Fatalf("%s: the job has lost its place", name)
			}
		}
		f.Advance(2 * time.Hour)
		f.promote()
		f.equal("the tally", f.tally(fairlead.Filter{Tenants: []string{"again"}}), map[fairlead.State]int64{fairlead.Ready: 1, fairlead.Parked: 1})
	})
	c.test("a scheduled job takes no place before it is due", func(f *fixture) {
		scheduled := f.enqueue(with(behind("g"), notBefore(f.now().Add(time.Hour))))
		first := f.enqueue(with(behind("g")))
		f.wantState(first, fairlead.Ready)
		f.Advance(2 * time.Hour)
		f.equal("how many were due", f.promote().Moved, 1)
		f.wantState(scheduled, fairlead.Parked)
		f.ok(operations(f.store).Cancel(f.ctx(), first.ID, ""))
		f.wantState(scheduled, fairlead.Ready)
	})
	c.test("a scheduled job that is due finds a free place", func(f *fixture) {
		job := f.enqueue(with(behind("g"), notBefore(f.now().Add(time.Hour))))
		f.Advance(2 * time.Hour)
		f.promote()
		f.wantState(job, fairlead.Ready)
	})
	testParked(c)
	testGateRaces(c)
}

// testParked covers operations on a parked job.
func testParked(c *chapter) {
	c.test("a parked job can be cancelled and reopened, behind those that have places", func(f *fixture) {
		jobs := f.queueUp(2)
		f.ok(operations(f.store).Cancel(f.ctx(), jobs[1].ID, "not needed"))
		f.equal("why", f.wantState(jobs[1], fairlead.Cancelled).Error, "not needed")
		f.ok(operations(f.store).Reopen(f.ctx(), jobs[1].ID))
		f.wantState(jobs[1], fairlead.Parked)
		f.settle(to(fairlead.Fail, f.claimThe(jobs[0], f.join())))
		f.wantState(jobs[1], fairlead.Ready)
		f.ok(operations(f.store).Reopen(f.ctx(), jobs[0].ID))
		f.wantState(jobs[0], fairlead.Parked)
	})
	c.test("a parked job can be deleted", func(f *fixture) {
		jobs := f.queueUp(3)
		f.ok(operations(f.store).Delete(f.ctx(), jobs[1].ID))
		f.wantGone(jobs[1])
		f.settle(to(fairlead.Succeed, f.claimThe(jobs[0], f.join())))
		f.wantState(jobs[2], fairlead.Ready)
	})
	c.test("a parked job can be put off, and comes back", func(f *fixture) {
		jobs := f.queueUp(2)
		f.ok(operations(f.store).Reschedule(f.ctx(), jobs[1].ID, f.now().Add(time.Hour)))
		f.wantState(jobs[1], fairlead.Scheduled)
		f.ok(operations(f.store).RunNow(f.ctx(), jobs[1].ID))
		f.wantState(jobs[1], fairlead.Parked)
		f.ok(operations(f.store).RunNow(f.ctx(), jobs[1].ID))
		f.wantState(jobs[1], fairlead.Parked)
		f.ok(operations(f.store).Reschedule(f.ctx(), jobs[1].ID, f.now()))
		f.wantState(jobs[1], fairlead.Parked)
	})
	c.test("priority counts at the gate", func(f *fixture) {
		jobs := f.queueUp(3)
		f.ok(operations(f.store).SetPriority(f.ctx(), jobs[2].ID, 5))
		f.equal("its priority", f.wantState(jobs[2], fairlead.Parked).Priority, 5)
		f.settle(to(fairlead.Succeed, f.claimThe(jobs[0], f.join())))
		f.wantState(jobs[2], fairlead.Ready)
		f.wantState(jobs[1], fairlead.Parked)
	})
	c.test("parked jobs are pending", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 2})
		f.queueUp(2, forTenant("acme"))
		f.wantErr(f.tryEnqueue(with(forTenant("acme"))), fairlead.ErrLimit)
	})
	c.test("a gate that is widened admits more, one that is narrowed nobody until it fits", func(f *fixture) {
		jobs := f.queueUp(5)
		f.perKey(kind, 3)
		f.wantState(jobs[2], fairlead.Ready)
		f.wantState(jobs[3], fairlead.Parked)
		f.perKey(kind, 2)
		claimed := f.wantClaim(f.join(), everything(), jobs[:3]...)
		f.settle(to(fairlead.Succeed, claimed[0]))
		f.wantState(jobs[3], fairlead.Parked)
		f.settle(to(fairlead.Succeed, claimed[1]))
		f.wantState(jobs[3], fairlead.Ready)
		f.wantState(jobs[4], fairlead.Parked)
		f.perKey(kind, 0)
		f.settle(to(fairlead.Succeed, claimed[2]))
		f.wantState(jobs[4], fairlead.Parked)
	})
	c.test("limits of other scopes that have the name of a kind make no places", func(f *fixture) {
		f.perKey(kind, 2)
		f.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: kind, MaxRunning: 5})
		f.declare(fairlead.Tenant{Name: kind, MaxRunning: 5})
		var jobs []*fairlead.Job
		for range 4 {
			jobs = append(jobs, f.enqueue(with(behind("g"))))
		}
		claimed := f.wantClaim(f.join(), everything(), jobs[:2]...)
		f.settle(to(fairlead.Succeed, claimed[0]))
		f.wantState(jobs[2], fairlead.Ready)
		f.wantState(jobs[3], fairlead.Parked)
	})
	c.test("the places of a kind are listed with its limit, and do not limit what has no key", func(f *fixture) {
		f.perKey(kind, 2)
		limits, err := f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits", limits, []fairlead.LimitUse{{Limit: fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, PerKey: 2}}})
		f.enqueue(many(5)...)
		f.equal("what is claimed", len(f.claim(f.join(), 10)), 5)
		f.perKey(kind, 0)
		limits, err = f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits", limits, []fairlead.LimitUse(nil))
	})
	c.test("a parked job is explained by who has the places", func(f *fixture) {
		f.joinIdle()
		jobs := f.queueUp(3)
		e := f.explain(jobs[2], fairlead.AtGate, fairlead.InLine)
		f.equal("its state", e.State, fairlead.Parked)
		f.equal("before it", e.Ahead, 1)
		text := e.Obstacles[0].Text
		e.Obstacles[0].Text = ""
		f.equal("the gate", e.Obstacles[0], fairlead.Obstacle{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Name: "g", Used: 1, Cap: 1, By: []int64{jobs[0].ID}})
		if text == "" {
			f.Error("it says nothing to people")
		}
		f.pause(kindPause(kind))
		f.explain(jobs[1], fairlead.AtGate, fairlead.IsPaused)
	})
	c.test("jobs at other gates do not stand before it", func(f *fixture) {
		f.joinIdle()
		f.enqueue(many(4, behind("h"))...)
		f.equal("before it", f.explain(f.queueUp(3)[2], fairlead.AtGate, fairlead.InLine).Ahead, 1)
	})
	c.test("of many jobs that have the places the first five are named", func(f *fixture) {
		f.joinIdle()
		f.perKey(kind, 7)
		jobs := many(8, behind("g"))
		f.enqueue(jobs...)
		gate := f.explain(jobs[7], fairlead.AtGate).Obstacles[0]
		f.equal("how many have one", gate.Used, 7)
		f.equal("who is named", gate.By, ids(jobs[:5]))
	})
	c.test("trap 20: a full gate with many jobs hides no others", func(f *fixture) {
		jobs := many(f.size(250, 3000, "parks more jobs than a claim looks at"), behind("g"))
		f.enqueue(jobs...)
		other := f.enqueue(plain())
		f.wantClaim(f.join(), everything(), jobs[0], other)
	})
}

// testGateRaces covers concurrent operations at one gate.
func testGateRaces(c *chapter) {
	c.test("what a transaction enqueued or settled passes the gate when it is woken, or with Promote", func(f *fixture) {
		tx := f.begin()
		first := f.enqueueIn(tx, with(behind("g")))
		second := f.enqueueIn(tx, with(behind("g")))
		f.ok(tx.Commit())
		tx.Tx.Wake()
		f.wantState(first, fairlead.Ready)
		f.wantState(second, fairlead.Parked)
		claimed := f.claimThe(first, f.join())
		tx = f.begin()
		f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, claimed))
		f.ok(tx.Commit())
		f.eventually("the second passes the gate", func() bool { // the store may notice the commit itself at this moment
			f.promote()
			return f.get(second).State == fairlead.Ready
		})
	})
	c.test("a job that was replaced in its own transaction leaves its place and its key to others", func(f *fixture) {
		tx := f.begin()
		replaced := f.enqueueIn(tx, with(behind("g"), keyed("k")))
		heir := f.enqueueIn(tx, with(behind("h"), keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		next := f.enqueueIn(tx, with(behind("g")))
		f.ok(tx.Commit())
		tx.Tx.Wake()
		f.wantState(replaced, fairlead.Cancelled)
		f.wantState(heir, fairlead.Ready)
		f.wantState(next, fairlead.Ready)
		f.settle(success(f.claimThe(heir, f.join()), `1`))
		f.wantState(f.enqueue(with(keyed("k"))), fairlead.Ready)
	})
	c.test("a transaction that was rolled back gave back no place", func(f *fixture) {
		jobs := f.queueUp(2)
		claimed := f.claimThe(jobs[0], f.join())
		tx := f.begin()
		f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, claimed))
		f.ok(tx.Rollback())
		f.promote()
		f.wantState(jobs[1], fairlead.Parked)
	})
	c.test("trap 21: a place is not lost between one that ends and one that comes", func(f *fixture) {
		node := f.join()
		for range f.rounds(20) {
			running := f.enqueue(with(behind("g")))
			claimed, next := f.claimThe(running, node), with(behind("g"))
			f.ok(fairlead.NormalizeJobs([]*fairlead.Job{next}))
			errs := f.rivals(2, func(i int, store Store) error {
				if i == 0 {
					return store.Enqueue(f.ctx(), []*fairlead.Job{next})
				}
				_, err := SettleAll(f.ctx(), store, []fairlead.Settlement{to(fairlead.Succeed, claimed)})
				return err
			})
			f.ok(first(errs))
			f.wantState(next, fairlead.Ready)
			f.settle(to(fairlead.Succeed, f.claimThe(next, node)))
		}
	})
	c.test("jobs that come and go at once never have more places than there are", func(f *fixture) {
		const places = 2
		rounds := f.rounds(40)
		f.perKey(kind, places)
		node := f.join()
		errs := f.rivals(4, func(i int, store Store) error {
			for round := range rounds {
				job := with(behind("g"), priority(round%3))
				if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
					return err
				}
				if err := store.Enqueue(f.ctx(), []*fairlead.Job{job}); err != nil {
					return err
				}
				claimed, err := store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 3})
				if err != nil {
					return err
				}
				tally, err := store.Tally(f.ctx(), fairlead.Filter{})
				if err != nil {
					return err
				}
				if n := tally[fairlead.Ready] + tally[fairlead.Running]; n > places {
					return fmt.Errorf("%d jobs have a place: %v", n, tally)
				}
				for _, job := range claimed {
					move := to(fairlead.Succeed, job)
					if (round+i)%4 == 0 {
						move = again(job, 0)
					}
					if _, err := SettleAll(f.ctx(), store, []fairlead.Settlement{move}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		f.ok(first(errs))
		for f.tally(fairlead.Filter{})[fairlead.Succeeded] < int64(4*rounds) {
			var claimed []*fairlead.Job
			f.eventually("what is left is claimed", func() bool { // notifications from the other process may still arrive
				claimed = f.claim(node, 10)
				return len(claimed) > 0
			})
			for _, job := range claimed {
				f.settle(to(fairlead.Succeed, job))
			}
		}
	})
}
