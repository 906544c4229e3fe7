package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testClaim(c *chapter) {
	c.test("it leases a ready job to the node", func(f *fixture) {
		job := f.enqueue(plain())
		f.Advance(time.Minute)
		node := f.join()
		claimed := f.claimThe(job, node)
		f.equal("State", claimed.State, fairlead.Running)
		f.equal("Node", claimed.Node, node)
		f.equal("Attempt", claimed.Attempt, 1)
		f.equal("StartedAt", claimed.StartedAt, f.now())
		if claimed.Fence <= 0 {
			f.Fatalf("the fence is %d", claimed.Fence)
		}
		f.equal("what Held says", f.held(node), []driver.Held{{ID: job.ID, Fence: claimed.Fence}})
	})
	c.test("the claimed job is complete", func(f *fixture) {
		job := ornate(f.now())
		job.NotBefore = f.now()
		f.enqueue(job)
		scope := everything(job.Kind)
		claimed := f.wantClaim(f.join(), scope, job)[0]
		f.equal("the job", claimed, f.get(job))

		retry := again(claimed, 0)
		retry.Memo = json.RawMessage(`{"seen": 3}`)
		f.settle(retry)
		claimed = f.wantClaim(f.join(), scope, job)[0]
		f.equal("Memo", string(claimed.Memo), `{"seen": 3}`)
		f.equal("Failures", claimed.Failures, 1)
		f.equal("the job in its second run", claimed, f.get(job))
	})
	c.test("jobs that are claimed together have their own memos", func(f *fixture) {
		for _, queues := range [][2]string{{"one", "one"}, {"two", "another"}} {
			first, second := f.running(inQueue(queues[0])), f.running(inQueue(queues[1]))
			retry := again(first, 0)
			retry.Memo = json.RawMessage(`"first"`)
			f.settle(retry, again(second, 0))
			claimed := f.wantClaim(f.join(), &driver.Scope{Queues: queues[:], Kinds: []string{kind}}, first, second)
			f.equal("the memos", []string{string(claimed[0].Memo), string(claimed[1].Memo)}, []string{`"first"`, ""})
		}
	})
	c.test("it takes at most Max", func(f *fixture) {
		jobs := many(5)
		f.enqueue(jobs...)
		node := f.join()
		f.equal("the first claim", ids(f.claim(node, 3)), ids(jobs[:3]))
		f.equal("the second claim", ids(f.claim(node, 3)), ids(jobs[3:]))
		f.equal("the third claim", ids(f.claim(node, 3)), []int64(nil))
	})
	c.test("documents beyond Bytes are left out, but those of the first job never", func(f *fixture) {
		large := json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
		jobs := many(5, func(job *fairlead.Job) { job.Args = large })
		jobs[3].Args = nil
		f.enqueue(jobs...)
		for bytes, whole := range map[int][]bool{1: {true, false, false, true, false}, 2900: {true, true, false, true, false}, 10_000: {true, true, true, true, true}, 0: {true, true, true, true, true}} {
			claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 5, Bytes: bytes})
			f.equal("the jobs", ids(claimed), ids(jobs))
			var got []bool
			var back []fairlead.Settlement
			for i, job := range claimed {
				got = append(got, !job.Bare)
				want := ""
				if !job.Bare {
					want = string(jobs[i].Args)
				}
				f.equal("the args", string(job.Args), want)
				back = append(back, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.MoveRelease, Unstarted: true})
			}
			f.equal("which have their documents", got, whole)
			f.settle(back...)
		}
		f.equal("the args that are stored", string(f.get(jobs[1]).Args), string(large))
	})
	c.test("a job is claimed once", func(f *fixture) {
		job, g := f.enqueue(plain()), f.elsewhere()
		f.claimThe(job, f.join())
		f.wantClaim(f.join(), everything())
		g.wantClaim(g.join(), everything())
	})
	c.test("only ready jobs are claimed", func(f *fixture) {
		for _, state := range except(fairlead.Ready) {
			f.in(state)
		}
		f.wantClaim(f.join(), everything())
	})
	c.test("StartBy orders jobs and delays none", func(f *fixture) {
		f.claimThe(f.enqueue(with(startBy(f.now().Add(time.Hour)))), f.join())
	})
	c.test("a job that another process enqueued is claimed", func(f *fixture) {
		f.settle(to(fairlead.Succeed, f.running())) // from now on, the lane is known
		node := f.join()
		f.wantClaim(node, everything())
		f.claimThe(f.elsewhere().enqueue(plain()), node)
	})
	c.test("a lane that another process made is found soon", func(f *fixture) {
		node, scope := f.join(), everything("brand new")
		f.wantClaim(node, scope)
		job := f.elsewhere().enqueue(with(ofKind("brand new")))
		f.eventually("the new lane's job is claimed", func() bool {
			claimed := f.claimAs(driver.Claim{Node: node, Scope: scope, Max: 1})
			return len(claimed) == 1 && claimed[0].ID == job.ID
		})
	})
	c.test("a job that an open transaction has locked is passed over", func(f *fixture) {
		f.needs(OtherWriters)
		locked, free := with(keyed("k"), priority(9)), plain()
		f.enqueue(locked, free)
		tx, node := f.begin(), f.join()
		f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		f.wantClaim(node, everything(), free)
		f.ok(tx.Rollback())
		f.claimThe(locked, node)
	})
	testClaimScope(c)
	testClaimRooms(c)
	testClaimNumbers(c)
	testClaimLease(c)
}

func (f *fixture) held(node fairlead.NodeID) []driver.Held {
	f.Helper()
	held, err := f.store.Held(f.ctx(), node)
	f.ok(err)
	return held
}

func testClaimScope(c *chapter) {
	c.test("a scope without queues serves all but Except", func(f *fixture) {
		a, b := with(inQueue("a")), with(inQueue("b"))
		f.enqueue(a, b, with(inQueue("c")))
		f.wantClaim(f.join(), &driver.Scope{Kinds: []string{kind}, Except: []string{"c", "d"}}, a, b)
	})
	c.test("a scope with queues serves these", func(f *fixture) {
		a, c := with(inQueue("a")), with(inQueue("c"))
		f.enqueue(a, with(inQueue("b")), c)
		f.wantClaim(f.join(), &driver.Scope{Kinds: []string{kind}, Queues: []string{"c", "a"}}, a, c)
	})
	c.test("a scope with tenants takes the jobs of these alone, however many of others come first", func(f *fixture) {
		f.enqueue(many(50, forTenant("globex"), priority(9))...)
		a, b := with(forTenant("acme")), with(forTenant("initech"))
		f.enqueue(a, with(), b)
		f.wantClaim(f.join(), &driver.Scope{Kinds: []string{kind}, Tenants: []string{"acme", "initech"}}, a, b)
		f.wantClaim(f.join(), &driver.Scope{Kinds: []string{kind}, Tenants: []string{"acme"}})
	})
	c.test("the tenants of a scope count together with its queues", func(f *fixture) {
		a := with(forTenant("acme"), inQueue("a"))
		f.enqueue(with(forTenant("acme"), inQueue("b")), with(forTenant("globex"), inQueue("a")), a)
		scope := &driver.Scope{Kinds: []string{kind}, Queues: []string{"a"}, Tenants: []string{"acme"}}
		f.wantClaim(f.join(), scope, a)
	})
	c.test("kinds that the scope does not handle are left", func(f *fixture) {
		a, b := with(ofKind("a")), with(ofKind("b"))
		f.enqueue(a, b)
		f.wantClaim(f.join(), everything("b"), b)
		f.wantClaim(f.join(), everything("a", "unheard of"), a)
	})
	c.test("all tenants are served", func(f *fixture) {
		a, b := with(forTenant("a")), with(forTenant("b"))
		f.enqueue(a, b)
		f.wantClaim(f.join(), everything(), a, b)
	})
}

func testClaimRooms(c *chapter) {
	c.test("Rooms bounds how many of a kind are taken", func(f *fixture) {
		a, b := many(4, ofKind("a")), many(4, ofKind("b"))
		f.enqueue(append(a, b...)...)
		node := f.join()
		claimed := f.claimAs(driver.Claim{Node: node, Scope: everything("a", "b"), Max: 10, Rooms: map[string]int{"a": 2}})
		f.equal("what was claimed", ids(claimed), ids([]*fairlead.Job{a[0], a[1], b[0], b[1], b[2], b[3]}))
	})
	c.test("a kind without room is left, and its place goes to the next", func(f *fixture) {
		a, b := many(3, ofKind("a"), priority(9)), many(3, ofKind("b"))
		f.enqueue(append(a, b...)...)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything("a", "b"), Max: 2, Rooms: map[string]int{"a": 0, "b": 5}})
		f.equal("what was claimed", ids(claimed), ids(b[:2]))
	})
	c.test("a kind's room counts all of its lanes together", func(f *fixture) {
		one, two := with(ofKind("a"), inQueue("1")), with(ofKind("a"), inQueue("2"), forTenant("t"))
		f.enqueue(one, two, with(ofKind("a"), inQueue("3")))
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything("a"), Max: 10, Rooms: map[string]int{"a": 2}})
		f.equal("what was claimed", ids(claimed), []int64{one.ID, two.ID})
	})
	c.test("room beyond Max does not raise Max", func(f *fixture) {
		jobs := many(3)
		f.enqueue(jobs...)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 2, Rooms: map[string]int{kind: 100}})
		f.equal("what was claimed", ids(claimed), ids(jobs[:2]))
	})
}

func testClaimNumbers(c *chapter) {
	c.test("each claim of a job has the next attempt number", func(f *fixture) {
		job, node := f.enqueue(plain()), f.join()
		for run := 1; run <= 4; run++ {
			claimed := f.claimThe(job, node)
			f.equal("Attempt", claimed.Attempt, run)
			f.settle(again(claimed, 0))
		}
	})
	c.test("each claim of a job has a larger fence, whichever way it came back", func(f *fixture) {
		job, last := f.enqueue(plain()), int64(0)
		ways := []func(claimed *fairlead.Job){
			func(claimed *fairlead.Job) { f.settle(again(claimed, 0)) },
			func(claimed *fairlead.Job) { f.settle(to(fairlead.MoveRelease, claimed)) },
			f.crash,
			func(claimed *fairlead.Job) {
				f.settle(to(fairlead.Fail, claimed))
				f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
			},
			func(claimed *fairlead.Job) {
				f.settle(wait(claimed))
				f.ok(f.store.Resolve(f.ctx(), again(claimed, 0)))
				f.promote()
			},
		}
		for i, comeBack := range append(ways, ways...) {
			g := f
			if i%2 == 1 {
				g = f.elsewhere()
			}
			claimed := g.claimThe(job, g.join())
			if claimed.Fence <= last {
				f.Fatalf("the fence is %d after %d", claimed.Fence, last)
			}
			last = claimed.Fence
			comeBack(claimed)
		}
	})
}

func testClaimLease(c *chapter) {
	c.test("a node without a live lease gets ErrLeaseLost", func(f *fixture) {
		job := f.enqueue(plain())
		left, lapsed, dead := f.join(), f.joinFor(time.Minute), f.joinFor(time.Second)
		f.ok(f.store.Leave(f.ctx(), left))
		f.Advance(2 * time.Second)
		f.reap()
		f.Advance(time.Hour)
		for name, node := range map[string]fairlead.NodeID{"unknown": 1 << 40, "left": left, "declared dead": dead, "lapsed": lapsed} {
			claimed, err := f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
			if len(claimed) > 0 {
				f.Fatalf("a node that is %s claimed a job", name)
			}
			f.wantErr(err, fairlead.ErrLeaseLost)
		}
		f.wantState(job, fairlead.Ready)
	})
	c.test("a node without a live lease gets ErrLeaseLost even if nothing is ready", func(f *fixture) {
		_, err := f.store.Claim(f.ctx(), driver.Claim{Node: 1 << 40, Scope: everything(), Max: 1})
		f.wantErr(err, fairlead.ErrLeaseLost)
	})
	c.test("a lease is live until its end", func(f *fixture) {
		f.enqueue(many(2)...)
		node := f.joinFor(time.Minute)
		f.Advance(time.Minute - time.Microsecond)
		f.claimOne(node)
		f.Advance(2 * time.Microsecond)
		_, err := f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
		f.wantErr(err, fairlead.ErrLeaseLost)
	})
}

// suspect returns a job that was running in enough crashes to be a suspect.
func (f *fixture) suspect() *fairlead.Job {
	f.Helper()
	job := f.enqueue(plain())
	for range driver.SoloAfter {
		f.crash(f.claimThe(job, f.join()))
	}
	return f.wantState(job, fairlead.Ready)
}

func testSolo(c *chapter) {
	solo := func(f *fixture, n int) []*fairlead.Job {
		return f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: n, Solo: true})
	}
	c.test("crash suspects are claimed only if the claim is Solo", func(f *fixture) {
		job := f.suspect()
		f.wantClaim(f.join(), everything())
		claimed := solo(f, 1)
		f.equal("the solo claim", ids(claimed), []int64{job.ID})
		f.equal("Solo", claimed[0].Solo, true)
		f.equal("Crashes", claimed[0].Crashes, driver.SoloAfter)
	})
	c.test("a Solo claim takes no suspects of tenants that its scope does not have", func(f *fixture) {
		job := f.suspect()
		scope := &driver.Scope{Kinds: []string{kind}, Tenants: []string{"acme"}}
		f.equal("of another tenant", len(f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 1, Solo: true})), 0)
		scope = &driver.Scope{Kinds: []string{kind}, Tenants: []string{"acme", fairlead.DefaultTenant}}
		f.equal("of its tenant", ids(f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 1, Solo: true})), []int64{job.ID})
	})
	c.test("a Solo claim takes suspects and nothing else", func(f *fixture) {
		f.suspect()
		f.enqueue(with(priority(9)))
		f.equal("the number of suspects claimed", len(solo(f, 10)), 1)
		f.equal("the number of others claimed solo", len(solo(f, 10)), 0)
		f.equal("Solo of an ordinary claim", f.claimOne(f.join()).Solo, false)
	})
	c.test("a claim passes over suspects that stand before the jobs it takes", func(f *fixture) {
		suspect := f.suspect()
		jobs := many(5)
		f.enqueue(jobs...)
		f.wantClaim(f.join(), everything(), jobs...)
		f.equal("the solo claim", ids(solo(f, 10)), []int64{suspect.ID})
	})
	c.test("fewer crashes make no suspect", func(f *fixture) {
		job := f.enqueue(plain())
		for range driver.SoloAfter - 1 {
			f.crash(f.claimThe(job, f.join()))
		}
		f.equal("the solo claim", ids(solo(f, 1)), []int64(nil))
		f.claimThe(job, f.join())
	})
	c.test("the priority of a suspect can be changed", func(f *fixture) {
		job := f.suspect()
		f.ok(operations(f.store).SetPriority(f.ctx(), job.ID, 3))
		f.equal("Priority", f.wantState(job, fairlead.Ready).Priority, 3)
		f.equal("the solo claim", ids(solo(f, 1)), []int64{job.ID})
	})
	c.test("a suspect can be cancelled and deleted", func(f *fixture) {
		cancelled := f.suspect()
		f.ok(operations(f.store).Cancel(f.ctx(), cancelled.ID, ""))
		f.wantState(cancelled, fairlead.Cancelled)
		deleted := f.suspect()
		f.ok(operations(f.store).Delete(f.ctx(), deleted.ID))
		f.wantGone(deleted)
		f.equal("the solo claim", ids(solo(f, 10)), []int64(nil))
	})
	c.test("a suspect that is given back stays one", func(f *fixture) {
		f.suspect()
		claimed := solo(f, 1)[0]
		f.settle(to(fairlead.MoveRelease, claimed))
		f.wantClaim(f.join(), everything())
		f.equal("the solo claim", ids(solo(f, 1)), []int64{claimed.ID})
	})
	c.test("a suspect that is tried again later stays one", func(f *fixture) {
		f.suspect()
		claimed := solo(f, 1)[0]
		f.settle(again(claimed, time.Second))
		f.Advance(time.Second)
		f.promote()
		f.wantClaim(f.join(), everything())
		f.equal("the solo claim", ids(solo(f, 1)), []int64{claimed.ID})
	})
	c.test("a suspect that crashes again stays one", func(f *fixture) {
		f.suspect()
		claimed := solo(f, 1)[0]
		f.crash(claimed)
		f.wantClaim(f.join(), everything())
		f.equal("the solo claim", ids(solo(f, 1)), []int64{claimed.ID})
	})
	c.test("a suspect that reported progress is none any more", func(f *fixture) {
		f.suspect()
		claimed := solo(f, 1)[0]
		f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: claimed.ID, Fence: claimed.Fence, Progress: json.RawMessage(`1`)}))
		f.crash(claimed)
		f.claimThe(claimed, f.join())
	})
	c.test("a suspect that is reopened is none any more", func(f *fixture) {
		job := f.suspect()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.claimThe(job, f.join())
	})
}
