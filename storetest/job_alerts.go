package storetest

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/driver"
)

// rule stores an alert rule and returns it as stored.
func (f *fixture) rule(name string, changes ...func(*alert.Rule)) alert.Rule {
	f.Helper()
	rule := alert.Rule{Name: name, URL: "https://example.org/alerts"}
	for _, change := range changes {
		change(&rule)
	}
	f.ok(alert.Normalize(&rule))
	stored, err := f.store.SetAlert(f.ctx(), rule)
	f.ok(err)
	return stored
}

func (f *fixture) rules() []alert.Rule {
	f.Helper()
	rules, err := f.store.Alerts(f.ctx())
	f.ok(err)
	return rules
}

// forgetAlerts removes all rules.
func (f *fixture) forgetAlerts() error {
	rules, err := f.store.Alerts(f.ctx())
	for _, rule := range rules {
		if err == nil {
			err = f.store.RemoveAlert(f.ctx(), rule.Name)
		}
	}
	return err
}

// look starts a check, which must be granted.
func (f *fixture) look(every time.Duration) alert.Turn {
	f.Helper()
	turn, taken, err := f.store.TakeLook(f.ctx(), every)
	f.ok(err)
	f.equal("whether the look was taken", taken, true)
	return turn
}

func (f *fixture) wantNoLook(every time.Duration) {
	f.Helper()
	_, taken, err := f.store.TakeLook(f.ctx(), every)
	f.ok(err)
	f.equal("whether the look was taken", taken, false)
}

func (f *fixture) endLook(found alert.Found) bool {
	f.Helper()
	f.ok(fairlead.NormalizeJobs(found.Messages))
	ended, err := f.store.EndLook(f.ctx(), found)
	f.ok(err)
	return ended
}

// counts counts the events of the last minutes, by bucket and lane.
func (f *fixture) counts() []alert.Count {
	f.Helper()
	to := f.now().Truncate(alert.Bucket).Add(alert.Bucket)
	counts, err := f.store.AlertCounts(f.ctx(), to.Add(-10*time.Minute), to)
	f.ok(err)
	slices.SortFunc(counts, func(a, b alert.Count) int { return slices.Compare(countKey(a), countKey(b)) })
	return counts
}

func countKey(c alert.Count) []string {
	return []string{string(c.Event), c.At.Format(time.RFC3339), c.Kind, c.Queue, c.Tenant, string(c.Reason)}
}

func testJobAlerts(c *chapter) {
	c.test("a rule is kept with all that was declared of it", func(f *fixture) {
		want := f.rule("Mail ", func(r *alert.Rule) {
			*r = alert.Rule{
				Name: r.Name, Scope: "kind:mail ä", URL: "https://example.org/a?b={{args.event}}", On: []alert.Event{alert.Missed, alert.Backlog},
				Backlog: time.Hour, Gather: time.Second, Quiet: time.Minute, Headers: map[string]string{"X-A": "ä"},
				Body: json.RawMessage(`{"a":  "{{args.count}}"}`), SigningSecret: "${env:S}",
			}
		})
		f.equal("Scope", want.Scope, alert.Scope("kind:mail ä"))
		f.equal("Body", string(want.Body), `{"a":  "{{args.count}}"}`)
		f.equal("CreatedAt", want.CreatedAt, f.now())
		f.equal("the rules as another process lists them", f.elsewhere().rules(), []alert.Rule{want})
	})
	c.test("a rule that is set again is replaced as a whole, and stays as old as it is", func(f *fixture) {
		first := f.rule("a", func(r *alert.Rule) { r.Headers = map[string]string{"A": "b"} })
		f.Advance(time.Minute)
		second := f.rule("a", func(r *alert.Rule) { r.URL = "https://example.org/other" })
		f.equal("CreatedAt", second.CreatedAt, first.CreatedAt)
		f.equal("UpdatedAt", second.UpdatedAt, f.now())
		f.equal("Headers", len(second.Headers), 0)
		f.equal("the rules", f.rules(), []alert.Rule{second})
	})
	c.test("the scope of a rule does not change", func(f *fixture) {
		first := f.rule("a", func(r *alert.Rule) { r.Scope = "tenant:acme" })
		other := first
		other.Scope, other.URL = "tenant:zeta", "https://example.org/other"
		_, err := f.store.SetAlert(f.ctx(), other)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the rules", f.rules(), []alert.Rule{first})
	})
	c.test("a rule that was seen is replaced, and conflicts if it was changed or made since, however soon", func(f *fixture) {
		first := f.rule("a", func(r *alert.Rule) { r.Headers = map[string]string{"A": "b"} })
		other := first
		other.URL = "https://example.org/other"
		second, err := f.store.SetAlertSeen(f.ctx(), other, first)
		f.ok(err)
		if !second.UpdatedAt.After(first.UpdatedAt) {
			f.Fatalf("changed at %v after %v", second.UpdatedAt, first.UpdatedAt)
		}
		f.equal("the rules", f.rules(), []alert.Rule{second})
		_, err = f.elsewhere().store.SetAlertSeen(f.ctx(), first, first)
		f.wantErr(err, fairlead.ErrConflict)
		_, err = f.store.SetAlertSeen(f.ctx(), other, alert.Rule{})
		f.wantErr(err, fairlead.ErrConflict)
		third := f.rule("a")
		_, err = f.store.SetAlertSeen(f.ctx(), first, second)
		f.wantErr(err, fairlead.ErrConflict)
		other.Scope = "kind:a"
		_, err = f.store.SetAlertSeen(f.ctx(), other, third)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the rules", f.rules(), []alert.Rule{third})
	})
	c.test("of callers that make a rule which they have not seen one wins", func(f *fixture) {
		rule := alert.Rule{Name: "a", URL: "https://example.org/alerts"}
		f.ok(alert.Normalize(&rule))
		won := 0
		for _, err := range f.rivals(4, func(_ int, store Store) error {
			_, err := store.SetAlertSeen(f.ctx(), rule, alert.Rule{})
			return err
		}) {
			if err == nil {
				won++
			} else {
				f.wantErr(err, fairlead.ErrConflict)
			}
		}
		f.equal("winners", won, 1)
		f.equal("the rules", len(f.rules()), 1)
	})
	c.test("rules are listed by name, and are gone once removed", func(f *fixture) {
		b, a := f.rule("b"), f.rule("a")
		f.equal("the rules", f.rules(), []alert.Rule{a, b})
		f.ok(f.store.RemoveAlert(f.ctx(), "b"))
		f.equal("the rules", f.rules(), []alert.Rule{a})
		f.wantErr(f.store.RemoveAlert(f.ctx(), "b"), fairlead.ErrNotFound)
	})
	testLooks(c)
	testAlertCounts(c)
}

func testLooks(c *chapter) {
	c.test("one caller at a time takes a look, and the next when its time has come", func(f *fixture) {
		rule := f.rule("a")
		turn := f.look(time.Minute)
		f.equal("Now", turn.Now, f.now())
		f.equal("the rules", turn.Rules, []alert.Watched{{Rule: rule}})
		f.elsewhere().wantNoLook(time.Minute)
		f.Advance(time.Minute)
		if again := f.elsewhere().look(time.Minute); again.Version <= turn.Version {
			f.Fatalf("version %d follows %d", again.Version, turn.Version)
		}
	})
	c.test("of many that take a look at once exactly one gets it", func(f *fixture) {
		f.rule("a")
		wins := make(chan bool, 6)
		f.ok(first(f.rivals(6, func(_ int, store Store) error {
			_, taken, err := store.TakeLook(f.ctx(), time.Minute)
			wins <- taken
			return err
		})))
		won := 0
		for range cap(wins) {
			if <-wins {
				won++
			}
		}
		f.equal("how many got it", won, 1)
	})
	c.test("what a look found is there for the next, with the messages as jobs", func(f *fixture) {
		rule := f.rule("a")
		turn := f.look(time.Minute)
		standing := alert.Standing{Failed: alert.Tally{
			Pending: 3, From: f.now(), FoundAt: f.now(), SentAt: f.now(), Groups: []alert.Group{{Kind: "ä", Count: 3}}, Seen: []alert.Slice{{At: f.now(), Total: 3}},
		}}
		found := alert.Found{
			Version: turn.Version, Seen: f.now().Add(-time.Hour), Standings: []alert.Watched{{Rule: rule, Standing: standing}}, Messages: []*fairlead.Job{alarm("acme"), alarm("zeta")},
		}
		f.equal("whether it ended", f.endLook(found), true)
		f.equal("the messages", len(f.find(fairlead.Filter{Kinds: []string{"tell"}, States: []fairlead.State{fairlead.Ready}})), 2)
		f.rule("a", func(r *alert.Rule) { r.URL = "https://example.org/other" })
		f.Advance(time.Minute)
		next := f.elsewhere().look(time.Minute)
		f.equal("Seen", next.Seen, found.Seen)
		f.equal("Standing", next.Rules[0].Standing, standing)
		f.equal("how many can be claimed", len(f.claimAs(driver.Claim{Node: f.join(), Scope: everything("tell"), Max: 10})), 2)
	})
	c.test("a look that was overtaken stores nothing", func(f *fixture) {
		rule := f.rule("a")
		late := f.look(time.Minute)
		f.Advance(time.Minute)
		f.look(time.Minute)
		found := alert.Found{Version: late.Version, Seen: f.now(), Standings: []alert.Watched{{Rule: rule, Standing: alert.Standing{Failed: alert.Tally{Pending: 1}}}}, Messages: []*fairlead.Job{alarm("acme")}}
		f.equal("whether it ended", f.endLook(found), false)
		f.equal("the messages", len(f.find(fairlead.Filter{Kinds: []string{"tell"}})), 0)
		f.Advance(time.Minute)
		next := f.look(time.Minute)
		f.equal("Seen", next.Seen, late.Seen)
		f.equal("Standing", next.Rules[0].Standing, alert.Standing{})
	})
	c.test("a look ends once", func(f *fixture) {
		f.rule("a")
		found := alert.Found{Version: f.look(time.Minute).Version, Seen: f.now()}
		f.equal("whether it ended", f.endLook(found), true)
		f.equal("whether it ended again", f.endLook(found), false)
	})
	c.test("while there is no rule there is no look", func(f *fixture) {
		f.wantNoLook(time.Minute)
		f.rule("a")
		f.Advance(time.Minute) // old data may have been removed just before
		f.look(time.Minute)
	})
	c.test("a clock that was set back keeps no caller from looking for longer than a minute", func(f *fixture) {
		f.rule("a")
		f.Advance(time.Hour)
		f.look(time.Second)
		f.Advance(-30 * time.Minute)
		f.look(time.Second)
		f.Advance(30 * time.Minute)
	})
	c.test("a look that asks for a rest makes the next one wait", func(f *fixture) {
		f.rule("a")
		f.endLook(alert.Found{Version: f.look(time.Minute).Version, Seen: f.now(), Rest: time.Minute})
		f.Advance(time.Minute)
		f.wantNoLook(time.Minute)
		f.Advance(time.Minute)
		f.look(time.Minute)
	})
	c.test("nothing is kept for a rule that was removed, also if it was made again", func(f *fixture) {
		old := f.rule("a")
		turn := f.look(time.Minute)
		f.ok(f.store.RemoveAlert(f.ctx(), "a"))
		f.Advance(time.Minute)
		f.rule("a")
		f.endLook(alert.Found{Version: turn.Version, Seen: f.now(), Standings: []alert.Watched{{Rule: old, Standing: alert.Standing{Failed: alert.Tally{Pending: 1}}}}})
		f.equal("Standing", f.look(time.Minute).Rules[0].Standing, alert.Standing{})
	})
	c.test("no bound of pending jobs keeps a message out", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		f.enqueue(with(forTenant("acme")))
		f.rule("a")
		f.endLook(alert.Found{Version: f.look(time.Minute).Version, Seen: f.now(), Messages: []*fairlead.Job{alarm("acme")}})
		f.equal("the messages", len(f.find(fairlead.Filter{Kinds: []string{"tell"}})), 1)
	})
}

func testAlertCounts(c *chapter) {
	c.test("jobs that failed are counted by lane, reason and bucket, others are not", func(f *fixture) {
		fail := func(reason fairlead.Reason, changes ...func(*fairlead.Job)) *fairlead.Job {
			job := f.running(changes...)
			f.settle(fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail, Reason: reason, Error: "no"})
			return job
		}
		first := f.now().Truncate(alert.Bucket)
		fail(fairlead.ReasonError, forTenant("acme"))
		fail(fairlead.ReasonError, forTenant("acme"))
		fail(fairlead.ReasonTimeout, forTenant("acme"))
		f.settle(to(fairlead.Succeed, f.running(forTenant("acme"))))
		f.Advance(alert.Bucket)
		again := fail(fairlead.ReasonError, forTenant("zeta"), inQueue("mail"))
		queue, kind := f.get(again).Queue, f.get(again).Kind
		want := []alert.Count{
			{Event: alert.Failed, At: first, Queue: fairlead.DefaultQueue, Tenant: "acme", Kind: kind, Reason: fairlead.ReasonError, Jobs: 2},
			{Event: alert.Failed, At: first, Queue: fairlead.DefaultQueue, Tenant: "acme", Kind: kind, Reason: fairlead.ReasonTimeout, Jobs: 1},
			{Event: alert.Failed, At: first.Add(alert.Bucket), Queue: queue, Tenant: "zeta", Kind: kind, Reason: fairlead.ReasonError, Jobs: 1},
		}
		f.equal("the counts", f.counts(), want)
		later, err := f.elsewhere().store.AlertCounts(f.ctx(), first.Add(alert.Bucket), first.Add(2*alert.Bucket))
		f.ok(err)
		f.equal("the counts of the second bucket, as another process has them", later, want[2:])
		f.ok(operations(f.store).Reopen(f.ctx(), again.ID))
		f.equal("the counts without what was opened again", f.counts(), want[:2])
	})
	c.test("starts that were too late are counted by lane and bucket, for an hour", func(f *fixture) {
		first := f.now().Truncate(alert.Bucket)
		lane := driver.Starts{Tenant: "acme", Queue: "mail", Kind: "a", Count: 5, Missed: 2}
		f.report(lane, driver.Starts{Tenant: "acme", Queue: "web", Kind: "a", Count: 5})
		f.elsewhere().report(lane)
		f.Advance(alert.Bucket)
		f.report(lane)
		count := alert.Count{Event: alert.Missed, At: first, Queue: "mail", Tenant: "acme", Kind: "a", Jobs: 4}
		second := count
		second.At, second.Jobs = first.Add(alert.Bucket), 2
		f.equal("the counts", f.counts(), []alert.Count{count, second})
		f.Advance(alert.MissedWindow + alert.Bucket)
		f.wantNoLook(time.Minute) // this removes old data
		counts, err := f.store.AlertCounts(f.ctx(), first, first.Add(2*alert.Bucket))
		f.ok(err)
		f.equal("the counts of what is too old", len(counts), 0)
	})
}
