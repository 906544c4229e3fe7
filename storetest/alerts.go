package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// alarm returns a job that delivers a message.
func alarm(tenant string) *fairlead.Job {
	return &fairlead.Job{Kind: "tell", Tenant: tenant, Args: json.RawMessage(`{"what": "it failed"}`), MaxAttempts: 7}
}

func testAlerts(c *chapter) {
	c.test("the alert of a schedule comes back as it was stored", func(f *fixture) {
		alert := schedule.Alert{
			URL: "https://example.org/a?b={{args.event}}", On: []schedule.AlertEvent{schedule.AlertMissed, schedule.AlertFailures}, Failures: 5, Quiet: time.Hour,
			Headers: map[string]string{"X-A": "ä"}, Body: json.RawMessage(`{"a":  "{{args.schedule}}"}`), SigningSecret: "${env:S}",
		}
		s := f.plan("s", func(s *schedule.Schedule) { s.Alert = &alert })
		f.equal("Alert", s.Alert, &alert)
		f.equal("Alert as read", f.schedule(s.ID).Alert, &alert)
	})
	c.test("a run that has ended is told of once, in the order of ends", func(f *fixture) {
		s := f.plan("s")
		first, second, third := f.make(s, byHand(f.now())), f.make(s, byHand(f.now())), f.make(s, byHand(f.now()))
		f.ok(operations(f.store).Cancel(f.ctx(), third.Job, ""))
		f.Advance(time.Second)
		f.ok(operations(f.store).Cancel(f.ctx(), first.Job, ""))
		view := f.view(s)
		f.equal("what has ended", fireJobs(view.Ended), []int64{third.Job, first.Job})
		f.equal("its state", view.Ended[0].State, fairlead.Cancelled)
		f.equal("its end", view.Ended[1].EndedAt, f.now())
		f.equal("what is active", fireJobs(view.Active), []int64{second.Job})
		f.equal("what has ended since", len(f.view(s).Ended), 0)
		f.ok(operations(f.store).Reopen(f.ctx(), first.Job))
		f.ok(operations(f.store).Cancel(f.ctx(), first.Job, ""))
		f.equal("what has ended again", fireJobs(f.view(s).Ended), []int64{first.Job})
	})
	c.test("what a plan wants to be remembered is told to the next, whatever is declared meanwhile", func(f *fixture) {
		s := f.plan("s")
		standing := schedule.Standing{Failures: 3, Told: true, FailedAt: f.now(), MissedAt: f.now().Add(-time.Hour)}
		f.act(s, schedule.Plan{Standing: standing})
		f.equal("Standing of another", f.view(f.plan("other")).Standing, schedule.Standing{})
		s = f.schedule(s.ID)
		s.Description = "changed"
		_, err := f.store.PutSchedule(f.ctx(), s, true)
		f.ok(err)
		f.equal("Standing", f.view(s).Standing, standing)
		f.equal("Standing once a plan had none", f.view(s).Standing, schedule.Standing{})
	})
	c.test("the alerts of a plan are jobs like any other, and no runs", func(f *fixture) {
		f.plan("s")
		ticked := f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan := runIt(s, view)
			plan.Alerts = []*fairlead.Job{alarm("acme"), alarm("zeta")}
			return plan
		})
		f.equal("runs", ticked.Runs, 1)
		told := f.find(fairlead.Filter{Kinds: []string{"tell"}})
		f.equal("the number of alerts", len(told), 2)
		for _, job := range told {
			f.equal("State", job.State, fairlead.Ready)
			f.equal("Fired", job.Fired, false)
			f.equal("Args", string(job.Args), `{"what": "it failed"}`)
			f.equal("MaxAttempts", job.MaxAttempts, 7)
			f.equal("runs of it", len(f.findFires(schedule.FireFilter{Jobs: []int64{job.ID}})), 0)
		}
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything("tell"), Max: 10})
		f.equal("how many can be claimed", len(claimed), 2)
		for _, job := range claimed {
			f.settle(to(fairlead.Succeed, job))
		}
		f.equal("acted upon for their ends", f.tick(leave).Schedules, 0)
	})
	c.test("alerts come from Act too, and not if decide refuses", func(f *fixture) {
		s := f.plan("s")
		refusal := errors.New("no")
		for _, refuse := range []error{refusal, nil} {
			_, err := f.store.Act(f.ctx(), s.ID, func(s schedule.Schedule, _ schedule.View) (schedule.Plan, error) {
				return schedule.Plan{Cursor: s.Cursor, Alerts: []*fairlead.Job{alarm(fmt.Sprint("t", refuse == nil))}}, refuse
			})
			if refuse == nil {
				f.ok(err)
			} else {
				f.wantErr(err, refusal)
			}
		}
		f.equal("the number of alerts", len(f.find(fairlead.Filter{Kinds: []string{"tell"}})), 1)
	})
	c.test("no bound of pending jobs keeps an alert out", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		f.enqueue(with(forTenant("acme")))
		s := f.plan("s")
		f.act(s, schedule.Plan{Alerts: []*fairlead.Job{alarm("acme")}})
		f.equal("the number of alerts", len(f.find(fairlead.Filter{Kinds: []string{"tell"}})), 1)
	})
}
