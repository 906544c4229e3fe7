package external_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/external"
	"github.com/fairlead-io/fairlead/sqlite"
)

func listening(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, sqlite.Options{})
	w.declareListening(fairlead.Tenant{})
	return w
}

// declareListening declares the tenant with URLs for everything.
func (w *world) declareListening(tenant fairlead.Tenant) {
	w.Helper()
	tenant.StartURL, tenant.FailURL, tenant.TimeoutURL = w.service.url+"/start", w.service.url+"/failed", w.service.url+"/timeout"
	w.declare(tenant)
}

// kinds returns handlers for several kinds, each of which ends differently.
func kinds() handlers {
	again := make(chan struct{}) // closed by the second attempt of a deaf one
	return handlers{
		"good":  func(context.Context, *fairlead.Job) error { return nil },
		"bad":   func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("hopeless")) },
		"flaky": func(context.Context, *fairlead.Job) error { return errors.New("not today") },
		"slow": func(ctx context.Context, job *fairlead.Job) error {
			if job.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		},
		"deaf": func(ctx context.Context, job *fairlead.Job) error {
			if job.Attempt > 1 {
				close(again)
				return nil
			}
			<-ctx.Done()
			<-again // longer than its grace
			return nil
		},
	}
}

// looks counts how often couriers looked for failures.
type looks struct {
	driver.Store
	count atomic.Int64
}

func (l *looks) FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	found, err := l.Store.FindPage(ctx, filter)
	if !filter.FinishedFrom.IsZero() {
		l.count.Add(1)
	}
	return found, err
}

// lookedMore waits until couriers have looked several times more.
func (w *world) lookedMore(l *looks) {
	w.Helper()
	before := l.count.Load()
	w.eventually("couriers look again", func() bool { return l.count.Load() > before+4 })
}

func (w *world) notices() int64 {
	w.Helper()
	tally, err := w.client.Tally(w.Context(), fairlead.Filter{Kinds: []string{external.NoticeKind}})
	if err != nil {
		w.Fatal(err)
	}
	sum := int64(0)
	for _, n := range tally {
		sum += n
	}
	return sum
}

func TestFinalFailuresAreToldOnceThoughTwoNodesLook(t *testing.T) {
	w := listening(t)
	store := &looks{Store: w.store}
	w.node(store, kinds(), false)
	w.node(store, kinds(), false)
	w.ended(w.enqueue(&fairlead.Job{Kind: "good"}))
	w.ended(w.enqueue(&fairlead.Job{Kind: "bad", Tenant: "somebody else"}))
	job := w.ended(w.enqueue(&fairlead.Job{Kind: "flaky", Args: json.RawMessage(`{"order":7}`), Key: "order 7", Queue: "mail", Trace: trace}))
	got := w.service.next()
	id, fence := strconv.FormatInt(job.ID, 10), strconv.FormatInt(job.Fence, 10)
	got.has(t, map[string]any{
		"event": "failed", "id": id, "key": "order 7", "tenant": "acme", "kind": "flaky", "queue": "mail",
		"attempt": 2.0, "fence": fence, "reason": "error", "error": "not today",
	})
	if got.path != "/failed" || !strings.Contains(got.raw, `"args":{"order":7}`) || got.body["finished_at"] == "" {
		t.Errorf("got %s %s", got.path, got.raw)
	}
	for header, want := range map[string]string{
		"Idempotency-Key": "fairlead-failed:" + id + ":" + fence, "Fairlead-Job": id, "Fairlead-Attempt": "2", "Fairlead-Fence": fence, "Traceparent": trace,
	} {
		if value := got.header.Get(header); value != want {
			t.Errorf("%s is %q, want %q", header, value, want)
		}
	}
	w.lookedMore(store)
	if n := w.notices(); n != 1 {
		t.Errorf("%d notices were stored", n)
	}
	w.service.quiet()
}

// A silent node stores failures and makes no notices, as if it had died at once.
func TestWhatADeadNodeDidNotTellIsToldAfterARestart(t *testing.T) {
	w := listening(t)
	stop := w.node(w.store, kinds(), true)
	job := w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	stop()
	w.service.quiet()
	for range 2 { // the second time all has been told
		store := &looks{Store: w.store}
		stop := w.node(store, kinds(), false)
		w.lookedMore(store)
		w.eventually("all notices are sent", func() bool {
			tally, err := w.client.Tally(t.Context(), fairlead.Filter{Kinds: []string{external.NoticeKind}})
			return err == nil && tally[fairlead.Succeeded] == 1 && len(tally) == 1
		})
		stop()
	}
	w.service.next().has(t, map[string]any{"event": "failed", "id": strconv.FormatInt(job.ID, 10), "reason": "fatal", "error": "hopeless"})
	w.service.quiet()
}

func TestAPassedDeadlineIsToldAsTimeoutAndAsFailure(t *testing.T) {
	w := listening(t)
	w.node(w.store, nil, false)
	job := externalJob()
	job.Timeout, job.MaxAttempts = 2*time.Second, 1 // a slow machine must have sent it by then
	w.enqueue(job)
	if got := w.service.next(); got.path != "/start" {
		t.Fatalf("got %s", got.path)
	}
	told := map[string]string{}
	for range 2 {
		got := w.service.next()
		told[got.path], _ = got.body["event"].(string)
		got.has(t, map[string]any{"id": strconv.FormatInt(job.ID, 10), "reason": "deadline"})
	}
	if told["/failed"] != "failed" || told["/timeout"] != "timeout" {
		t.Errorf("told %v", told)
	}
}

func TestAFailureThatTheTenantReportedIsTold(t *testing.T) {
	w := listening(t)
	w.node(w.store, nil, false)
	job := w.enqueue(externalJob())
	w.service.next()
	w.waiting(job)
	if err := w.client.Resolve(t.Context(), job.ID, w.get(job).Fence, nil, fairlead.Fatal(errors.New("out of stock"))); err != nil {
		t.Fatal(err)
	}
	w.service.next().has(t, map[string]any{"event": "failed", "error": "out of stock"})
}

func TestPoisonIsTold(t *testing.T) {
	var ahead atomic.Int64
	w := newWorld(t, sqlite.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	w.declareListening(fairlead.Tenant{})
	job := w.enqueue(&fairlead.Job{Kind: "deadly"})
	node, err := w.store.Join(t.Context(), fairlead.Node{}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := w.store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"deadly"}}, Max: 1})
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	ahead.Store(int64(time.Hour))
	if reaped, err := w.store.Reap(t.Context(), driver.Reap{Limit: 10}); err != nil || reaped.Poisoned != 1 {
		t.Fatal(reaped, err)
	}
	w.node(w.store, nil, false)
	w.service.next().has(t, map[string]any{"event": "failed", "id": strconv.FormatInt(job.ID, 10), "reason": "poison"})
}

// Also a silent node tells of timeouts: they are told before they are stored.
func TestAnAttemptThatTimedOutIsToldThoughItIsTriedAgain(t *testing.T) {
	for name, example := range map[string]struct {
		kind   string
		silent bool
	}{"by the handler": {"slow", true}, "by the node, of a handler that does not return": {"deaf", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := listening(t)
			w.node(w.store, kinds(), example.silent)
			job := w.ended(w.enqueue(&fairlead.Job{Kind: example.kind, Timeout: 100 * time.Millisecond}))
			if job.State != fairlead.Succeeded || job.Attempt != 2 {
				t.Errorf("it ended as %s in attempt %d", job.State, job.Attempt)
			}
			got := w.service.next()
			got.has(t, map[string]any{"event": "timeout", "id": strconv.FormatInt(job.ID, 10), "attempt": 1.0, "reason": "timeout"})
			if got.path != "/timeout" {
				t.Errorf("it was told at %s", got.path)
			}
			if n := w.notices(); n != 1 {
				t.Errorf("%d notices were stored", n)
			}
		})
	}
}

func TestANoticeIsTriedAgainAndItsOwnFailureIsNotTold(t *testing.T) {
	w := listening(t)
	store := &looks{Store: w.store}
	w.service.answer(500, 404)
	w.node(store, kinds(), false)
	w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	first, second := w.service.next(), w.service.next()
	if first.raw != second.raw || first.header.Get("Idempotency-Key") != second.header.Get("Idempotency-Key") {
		t.Errorf("first %s, then %s", first.raw, second.raw)
	}
	w.eventually("the notice has failed", func() bool {
		tally, err := w.client.Tally(t.Context(), fairlead.Filter{Kinds: []string{external.NoticeKind}})
		return err == nil && tally[fairlead.Failed] == 1
	})
	w.lookedMore(store)
	if n := w.notices(); n != 1 {
		t.Errorf("%d notices were stored", n)
	}
	w.service.quiet()
}

func TestAJobThatIsRetriedByHandAndFailsAgainIsToldAgain(t *testing.T) {
	w := listening(t)
	w.node(w.store, kinds(), false)
	job := w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	first := w.service.next()
	if err := w.client.Retry(t.Context(), job.ID); err != nil {
		t.Fatal(err)
	}
	second := w.service.next()
	if first.body["fence"] == second.body["fence"] {
		t.Errorf("told twice of the run %v", first.body["fence"])
	}
}

func TestNoticesDoNotCountAgainstTheTenantsCap(t *testing.T) {
	w := newWorld(t, sqlite.Options{})
	w.declareListening(fairlead.Tenant{MaxRunning: 2, MaxPending: 2})
	w.node(w.store, kinds(), false)
	for range 2 { // they wait, and hold all that the tenant has
		job := w.enqueue(externalJob())
		w.service.next()
		w.waiting(job)
	}
	failing, err := w.client.Find(t.Context(), fairlead.Filter{States: []fairlead.State{fairlead.Waiting}})
	if err != nil {
		t.Fatal(err)
	}
	bad := w.enqueue(&fairlead.Job{Kind: "bad"})
	job := failing.Jobs[0]
	if err := w.client.Resolve(t.Context(), job.ID, job.Fence, nil, fairlead.Fatal(errors.New("no"))); err != nil {
		t.Fatal(err)
	}
	for range 2 { // of the one that failed, and of the one that had to wait for it
		w.service.next().has(t, map[string]any{"event": "failed"})
	}
	w.ended(bad)
}

func TestATenantThatRemovedItsURLIsNotTold(t *testing.T) {
	w := listening(t)
	store := &looks{Store: w.store}
	w.service.answer(500, 500)
	w.node(store, kinds(), false)
	w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	w.service.next()
	w.declare(fairlead.Tenant{})
	w.eventually("the notice has ended", func() bool {
		tally, err := w.client.Tally(t.Context(), fairlead.Filter{Kinds: []string{external.NoticeKind}})
		return err == nil && tally[fairlead.Succeeded] == 1
	})
}

// A caller that may enqueue for one tenant must not be able to send signed messages, or the
// args of another tenant, to any address.
func TestANoticeOfAnotherTenantIsForged(t *testing.T) {
	w := listening(t)
	w.node(w.store, kinds(), false)
	forged := &fairlead.Job{Kind: external.NoticeKind, Tenant: "mallory", Args: json.RawMessage(`{"event":"failed","id":"1","tenant":"acme","fence":"1"}`)}
	if done := w.ended(w.enqueue(forged)); done.State != fairlead.Failed || done.Attempt != 1 || !strings.Contains(done.Error, external.NoticeTenant) {
		t.Errorf("it ended as %s: %s", done.State, done.Error)
	}
	w.service.quiet()
}

// A notice is trusted only if the store knows the event that it reports.
func TestANoticeOfWhatDidNotHappenIsForged(t *testing.T) {
	w := listening(t)
	w.node(w.store, kinds(), false)
	good := w.ended(w.enqueue(&fairlead.Job{Kind: "good"}))
	other := w.ended(w.enqueue(&fairlead.Job{Kind: "bad", Tenant: "somebody else"}))
	bad := w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	w.service.next()
	for name, args := range map[string]string{
		"a job that succeeded":      fmt.Sprintf(`{"event":"failed","id":"%d","tenant":"acme","fence":"%d","error":"pay here"}`, good.ID, good.Fence),
		"a job of another tenant":   fmt.Sprintf(`{"event":"failed","id":"%d","tenant":"acme","fence":"%d"}`, other.ID, other.Fence),
		"a run that was not":        fmt.Sprintf(`{"event":"failed","id":"%d","tenant":"acme","fence":"%d"}`, bad.ID, bad.Fence+1000),
		"a timeout that was not":    fmt.Sprintf(`{"event":"timeout","id":"%d","tenant":"acme","fence":"%d","attempt":2}`, bad.ID, bad.Fence+1000),
		"a job that does not exist": `{"event":"failed","id":"1000000","tenant":"acme","fence":"1"}`,
	} {
		forged := &fairlead.Job{Kind: external.NoticeKind, Tenant: external.NoticeTenant, Queue: external.NoticeQueue, Args: json.RawMessage(args)}
		if done := w.ended(w.enqueue(forged)); done.State != fairlead.Failed || done.Attempt != 1 {
			t.Errorf("of %s: it ended as %s: %s", name, done.State, done.Error)
		}
	}
	w.service.quiet()
}

// The message contains what the store knows, whatever the notice claims.
func TestANoticeTellsWhatTheStoreKnows(t *testing.T) {
	w := listening(t)
	w.node(w.store, kinds(), false)
	bad := w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
	w.service.next()
	args := fmt.Sprintf(`{"event":"failed","id":"%d","tenant":"acme","fence":"%d","kind":"invoice","error":"pay at evil.example","attempt":7}`, bad.ID, bad.Fence)
	w.enqueue(&fairlead.Job{Kind: external.NoticeKind, Tenant: external.NoticeTenant, Queue: external.NoticeQueue, Args: json.RawMessage(args)})
	w.service.next().has(t, map[string]any{"event": "failed", "kind": "bad", "error": "hopeless", "attempt": 1.0})
}

// unreadable is a store whose tenants cannot be read for a while.
type unreadable struct {
	driver.Store
	mended atomic.Bool
}

func (u *unreadable) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	if !u.mended.Load() {
		return nil, errors.New("no connection")
	}
	return u.Store.Tenants(ctx, filter)
}

func TestTellingThatFailsAffectsNoJobAndIsMadeUpFor(t *testing.T) {
	w := listening(t)
	store := &unreadable{Store: w.store}
	w.node(store, kinds(), false)
	for kind, want := range map[string]fairlead.State{"good": fairlead.Succeeded, "bad": fairlead.Failed, "slow": fairlead.Succeeded} {
		if done := w.ended(w.enqueue(&fairlead.Job{Kind: kind, Timeout: 50 * time.Millisecond})); done.State != want {
			t.Errorf("%s ended as %s: %s", kind, done.State, done.Error)
		}
	}
	store.mended.Store(true)
	told := map[any]bool{}
	for range 2 {
		told[w.service.next().body["event"]] = true
	}
	if !told["failed"] || !told["timeout"] {
		t.Errorf("told %v", told)
	}
}

func TestANoticeDoesNotShowWhatIsConfidential(t *testing.T) {
	w := listening(t)
	if err := w.store.AddConfidential(t.Context(), fairlead.Confidential{"bad": {"args.card"}}); err != nil {
		t.Fatal(err)
	}
	w.node(w.store, kinds(), false)
	w.enqueue(&fairlead.Job{Kind: "bad", Args: json.RawMessage(`{"card":"4111222","n":1}`)})
	if told := w.service.next(); strings.Contains(told.raw, "4111222") || !strings.Contains(told.raw, `"card":"***"`) || !strings.Contains(told.raw, `"n":1`) {
		t.Errorf("told is %s", told.raw)
	}
	notices, err := w.store.Find(t.Context(), fairlead.Filter{Kinds: []string{external.NoticeKind}})
	if err != nil || len(notices) == 0 {
		t.Fatalf("notices are %v: %v", notices, err)
	}
	for _, notice := range notices { // which callers may look at, and whose kind declares nothing
		if strings.Contains(string(notice.Args), `"error"`) {
			t.Errorf("the args of a notice have the error: %s", notice.Args)
		}
	}
}
