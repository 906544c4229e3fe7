package alert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/internal/starts"
)

var mail = fairlead.Job{Kind: "mail", Tenant: "acme", Queue: "out"}

// soon returns a rule whose first failure does not wait for others.
func soon(name string) alert.Rule { return alert.Rule{Name: name, Gather: time.Millisecond} }

func TestTenThousandFailuresAreOneMessageWithACount(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "all", Quiet: time.Minute})
	w.fail(4000, mail)
	w.wantSent(w.look()) // it waits for others
	other := mail
	other.Kind = "print"
	w.fail(6000, other)
	w.pass(10 * time.Second)
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 10_000})
	told := w.told()
	if len(told) != 1 || *told[0].Count != 10_000 || told[0].Alert != "all" || told[0].Event != alert.Failed || told[0].Scope != alert.Global {
		t.Fatalf("told %+v", told)
	}
	want := []alert.Group{{Kind: "print", Queue: "out", Tenant: "acme", Reason: "error", Count: 6000}, {Kind: "mail", Queue: "out", Tenant: "acme", Reason: "error", Count: 4000}}
	if len(told[0].Groups) != 2 || told[0].Groups[0] != want[0] || told[0].Groups[1] != want[1] {
		t.Errorf("its groups are %+v, want %+v", told[0].Groups, want)
	}
	if len(told[0].Examples) != 10 || told[0].Examples[0].Kind != "print" || told[0].Examples[0].Error != "no luck" || told[0].Examples[0].ID == "" {
		t.Errorf("its examples are %+v", told[0].Examples)
	}
}

func TestWhatFailsWithinQuietIsOneMessageAfterIt(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.fail(1, mail)
	w.look() // finds it
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 1})
	for range 5 {
		w.fail(3, mail)
		w.wantSent(w.look())
	}
	w.pass(time.Minute)
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 15})
	w.pass(time.Hour)
	w.wantSent(w.look())
}

func TestEveryFailureIsCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "all", Gather: time.Millisecond, Quiet: time.Millisecond})
	failed, counted := 0, int64(0)
	for i := range 60 {
		w.fail(i%4, mail)
		failed += i % 4
		w.pass(time.Duration(i%7) * time.Second)
		for _, sent := range w.look() {
			counted += sent.Count
		}
	}
	w.pass(10 * time.Minute)
	for _, sent := range w.look() {
		counted += sent.Count
	}
	if int64(failed) != counted {
		t.Errorf("%d jobs failed, and %d were counted", failed, counted)
	}
}

// A transaction that began before a look may commit after it: its jobs are dated before
// what the look has seen.
func TestAFailureThatBecomesVisibleLateIsCounted(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.fail(1, mail)
	w.pass(30 * time.Second)
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 1})
	w.pass(-40 * time.Second)
	w.fail(2, mail)
	w.pass(40 * time.Second)
	w.look()
	w.pass(time.Minute)
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 2})
}

func TestAJobThatIsRetriedByHandAndFailsAgainIsCountedAgain(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "all", Gather: time.Millisecond, Quiet: time.Millisecond})
	failed := w.fail(1, mail)
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 1})
	w.ok(w.store.Operate(t.Context(), failed[0].ID, fairlead.Operation{Op: fairlead.OpReopen}))
	w.end(w.start("mail"), fairlead.Fail)
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 1})
}

func TestALookThatCouldNotBeStoredIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.fail(3, mail)
	w.look()
	if _, err := w.tryLook(&cutting{Store: w.store, before: true}); !errors.Is(err, errCut) {
		t.Fatalf("the look ended with %v", err)
	}
	if told := w.told(); len(told) != 0 {
		t.Fatalf("told %+v", told)
	}
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 3})
}

func TestAMessageWhoseStoringIsNotAcknowledgedIsStoredOnce(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.fail(3, mail)
	w.look()
	if _, err := w.tryLook(&cutting{Store: w.store, after: true}); !errors.Is(err, errCut) {
		t.Fatalf("the look ended with %v", err)
	}
	w.pass(time.Hour)
	w.wantSent(w.look())
	if told := w.told(); len(told) != 1 || *told[0].Count != 3 {
		t.Errorf("told %+v", told)
	}
}

func TestAfterNoNodeLookedForHoursAllIsOneMessage(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.look()
	for range 12 {
		w.fail(5, mail)
		w.pass(20 * time.Minute)
	}
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 60})
}

func TestWhatFailedBeforeTheRuleIsNotReported(t *testing.T) {
	w := newWorld(t)
	w.set(soon("old"))
	w.fail(3, mail)
	w.pass(30 * time.Second)
	w.set(soon("new"))
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "old", Event: alert.Failed, Count: 3})
}

func TestARuleReportsOnlyWhatIsOfItsScope(t *testing.T) {
	w := newWorld(t)
	for _, scope := range []alert.Scope{"kind:mail", "kind:print", "queue:out", "queue:in", "tenant:acme", "tenant:zeta"} {
		rule := soon(string(scope))
		rule.Scope = scope
		w.set(rule)
	}
	w.fail(2, mail)
	w.fail(3, fairlead.Job{Kind: "print", Tenant: "zeta", Queue: "out"})
	w.look()
	var got []string
	for _, sent := range w.look() {
		got = append(got, fmt.Sprint(sent.Rule, " ", sent.Count))
	}
	if want := "[kind:mail 2 kind:print 3 queue:out 5 tenant:acme 2 tenant:zeta 3]"; fmt.Sprint(got) != want {
		t.Errorf("it sent %v, want %s", got, want)
	}
	for _, told := range w.told() {
		if told.Scope != "queue:out" && len(told.Examples) != int(*told.Count) {
			t.Errorf("%s has the examples %+v", told.Scope, told.Examples)
		}
	}
}

// Otherwise a receiver that is away would be sent ever more messages about messages.
func TestMessagesThatFailMakeNoMessages(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "all", Gather: time.Millisecond, Quiet: time.Millisecond})
	w.fail(1, mail)
	w.look()
	w.look()
	w.end(w.start("http"), fairlead.Fail)
	w.look()
	w.pass(time.Hour)
	w.wantSent(w.look())
	if told := w.told(); len(told) != 1 {
		t.Errorf("told %+v", told)
	}
}

func TestABacklogIsReportedOnceAndAlsoThatItIsOver(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "late", Scope: "queue:out", On: []alert.Event{alert.Backlog}, Backlog: time.Minute, Quiet: 10 * time.Minute})
	w.enqueue(3, mail)
	w.pass(50 * time.Second)
	w.wantSent(w.look())
	w.wantSent(w.look(), alert.Sent{Rule: "late", Event: alert.Backlog})
	w.pass(time.Hour)
	w.wantSent(w.look())
	w.end(w.start("mail"), fairlead.Succeed)
	w.wantSent(w.look(), alert.Sent{Rule: "late", Event: alert.Recovered})
	w.wantSent(w.look())
	told := w.told()
	if len(told) != 2 || *told[0].Ready != 3 || *told[0].OldestWait != "62s" || *told[0].Backlog != "60s" || told[0].Count != nil || *told[1].Ready != 0 {
		t.Errorf("told %+v", told)
	}
}

func TestABacklogThatComesAndGoesIsReportedOnceWithinQuiet(t *testing.T) {
	w := newWorld(t)
	w.set(alert.Rule{Name: "late", On: []alert.Event{alert.Backlog}, Backlog: time.Minute, Quiet: 10 * time.Minute})
	var events []alert.Event
	for range 4 {
		w.enqueue(1, mail)
		w.pass(time.Minute)
		for _, sent := range w.look() {
			events = append(events, sent.Event)
		}
		w.end(w.start("mail"), fairlead.Succeed)
		for _, sent := range w.look() {
			events = append(events, sent.Event)
		}
	}
	if want := "[backlog recovered]"; fmt.Sprint(events) != want {
		t.Errorf("it sent %v, want %s", events, want)
	}
}

func TestJobsThatStartTooLateAreCounted(t *testing.T) {
	w := newWorld(t)
	rule := soon("late")
	rule.On, rule.Scope = []alert.Event{alert.Missed}, "kind:mail"
	w.set(rule)
	now, err := w.store.Now(t.Context())
	w.ok(err)
	urgent := mail
	urgent.StartBy = now.Add(time.Second)
	w.enqueue(3, urgent)
	w.pass(2 * time.Second)
	w.enqueue(2, mail) // they have to start when they can
	counter := starts.New()
	if !counter.Add(w.start("mail")) {
		t.Error("no job started too late")
	}
	w.ok(w.store.Report(t.Context(), counter.Take()))
	w.look()
	w.wantSent(w.look(), alert.Sent{Rule: "late", Event: alert.Missed, Count: 3})
}

func TestARuleThatIsRemovedReportsNothing(t *testing.T) {
	w := newWorld(t)
	w.set(soon("all"))
	w.fail(1, mail)
	w.look()
	w.ok(w.alerts.Remove(t.Context(), "all"))
	w.wantSent(w.look())
	if _, err := w.alerts.Get(t.Context(), "all"); !errors.Is(err, fairlead.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestExamplesDoNotShowWhatIsConfidential(t *testing.T) {
	w := newWorld(t)
	w.ok(w.store.AddConfidential(t.Context(), fairlead.Confidential{"mail": {"args.to"}}))
	w.set(alert.Rule{Name: "all", Quiet: time.Minute})
	job := mail
	job.Args = json.RawMessage(`{"to":"no \"luck\""}`)
	w.enqueue(1, job)
	running := w.start(job.Kind)
	_, err := w.store.Settle(t.Context(), []fairlead.Settlement{{
		ID: running[0].ID, Fence: running[0].Fence, Move: fairlead.Fail, Reason: fairlead.ReasonError,
		Error: `refused: {"to":"no \"luck\""} ` + strings.Repeat("x", 470) + `no "luck"`,
	}})
	w.ok(err)
	w.wantSent(w.look()) // it waits for others
	w.pass(10 * time.Second)
	w.wantSent(w.look(), alert.Sent{Rule: "all", Event: alert.Failed, Count: 1})
	if told := w.told(); len(told) != 1 || len(told[0].Examples) != 1 || strings.Contains(told[0].Examples[0].Error, "no") || !strings.Contains(told[0].Examples[0].Error, `{"to":"***"}`) {
		t.Errorf("told are %+v", told)
	}
}
