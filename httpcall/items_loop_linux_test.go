package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// variedTarget answers as the first part of the path says, and counts the calls for each
// item.
type variedTarget struct {
	*httptest.Server
	held  chan struct{}
	mu    sync.Mutex
	calls map[string]int
}

func newVariedTarget(t *testing.T) *variedTarget {
	target := &variedTarget{held: make(chan struct{}), calls: map[string]int{}}
	target.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, sort, _ := strings.Cut(r.URL.Path, "/")
		sort, index, _ := strings.Cut(sort, "/")
		target.mu.Lock()
		target.calls[index]++
		target.mu.Unlock()
		switch sort {
		case "empty":
		case "ok":
			fmt.Fprint(w, "ok "+index)
		case "nothing":
			w.WriteHeader(http.StatusNoContent)
		case "pieces":
			fmt.Fprint(w, "in ")
			_ = http.NewResponseController(w).Flush()
			fmt.Fprint(w, "pieces")
		case "long":
			fmt.Fprint(w, strings.Repeat("x", 2*maxAnswer))
		case "goodbye":
			w.Header().Set("Connection", "close")
		case "early":
			w.WriteHeader(http.StatusEarlyHints)
		case "wrong":
			http.Error(w, "wrong", http.StatusBadRequest)
		case "busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		case "gone":
			panic(http.ErrAbortHandler)
		case "held":
			<-target.held
		}
	}))
	t.Cleanup(func() {
		close(target.held)
		target.Close()
	})
	return target
}

// runFor makes a run whose calls are of a sort.
func (v *variedTarget) runFor(t *testing.T, sort string, timeout time.Duration) *ItemsRun {
	t.Helper()
	handler := New(Options{Guard: mustGuard(t, true)})
	t.Cleanup(handler.items.client.CloseIdleConnections)
	call, err := handler.ForItems(json.RawMessage(`{"method":"POST","url":"`+v.URL+`/`+sort+`/{{args.item.index}}"}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	run := call.Under(&fairlead.Job{ID: 1, Tenant: "default"}, 3, 1, timeout, func(items []CallItem) string { return strconv.FormatInt(items[0].Index, 10) })
	if run.pattern == nil {
		t.Fatal("it has no pattern")
	}
	return run
}

// through sends items through a loop, a few at once.
func through(ctx context.Context, t *testing.T, run *ItemsRun, items int) []ItemsEnd {
	t.Helper()
	loop := run.Loop(ctx)
	if loop == nil {
		t.Fatal("there is no loop")
	}
	defer loop.Close()
	var ends []ItemsEnd
	begun := 0
	for ; begun < min(4, items); begun++ {
		loop.Begin(run, begun, CallItem{Index: int64(begun), Attempt: 1})
	}
	for len(ends) < items {
		ended := loop.Wait(time.Second)
		ends = append(ends, ended...)
		for range ended {
			if begun < items {
				loop.Begin(run, begun, CallItem{Index: int64(begun), Attempt: 1})
				begun++
			}
		}
	}
	return ends
}

// Whatever a target answers, a loop says of it what a single call says.
func TestALoopAgreesWithSingleCalls(t *testing.T) {
	const items = 30
	for _, sort := range []string{"empty", "ok", "nothing", "pieces", "long", "goodbye", "early", "wrong", "busy", "gone"} {
		t.Run(sort, func(t *testing.T) {
			target := newVariedTarget(t)
			wanted, wantedErr := target.runFor(t, sort, 0).Do(t.Context(), []CallItem{{Index: 0, Attempt: 1}})
			target.mu.Lock()
			clear(target.calls)
			target.mu.Unlock()
			seen := map[int]bool{}
			for _, end := range through(t.Context(), t, target.runFor(t, sort, 0), items) {
				body := strings.ReplaceAll(string(wanted.Body), "ok 0", "ok "+strconv.Itoa(end.Number))
				if end.Reply.Status != wanted.Status || string(end.Reply.Body) != body || end.Reply.Cut != wanted.Cut {
					t.Errorf("item %d got %d %.20q, and not %d %.20q", end.Number, end.Reply.Status, end.Reply.Body, wanted.Status, body)
				}
				if said := unnumbered(end.Err, sort, end.Number); said != unnumbered(wantedErr, sort, 0) {
					t.Errorf("item %d failed with %s, and not with %v", end.Number, said, wantedErr)
				}
				if seen[end.Number] {
					t.Errorf("item %d ended twice", end.Number)
				}
				seen[end.Number] = true
			}
			if sort == "gone" { // a connection that breaks is tried twice
				return
			}
			target.mu.Lock()
			defer target.mu.Unlock()
			for index, n := range target.calls {
				if n != 1 {
					t.Errorf("item %s was sent %d times", index, n)
				}
			}
		})
	}
}

// unnumbered is an error without what differs from call to call.
func unnumbered(err error, sort string, index int) string {
	var outcome *fairlead.Outcome
	text := strings.ReplaceAll(fmt.Sprint(err), sort+"/"+strconv.Itoa(index), sort)
	if errors.As(err, &outcome) {
		text += fmt.Sprint(outcome.Settlement().Move, outcome.Settlement().After)
	}
	return text
}

func TestALoopEndsCallsThatTakeTooLong(t *testing.T) {
	target := newVariedTarget(t)
	run := target.runFor(t, "ok", 0)
	through(t.Context(), t, run, 4) // so that there are connections
	loop := run.Loop(t.Context())
	defer loop.Close()
	hanging := target.runFor(t, "held", 100*time.Millisecond)
	hanging.call.handler = run.call.handler
	begin := time.Now()
	loop.Begin(hanging, 0, CallItem{Index: 0, Attempt: 1})
	loop.Begin(run, 1, CallItem{Index: 1, Attempt: 1})
	ends := map[int]error{}
	for len(ends) < 2 {
		for _, end := range loop.Wait(time.Second) {
			ends[end.Number] = end.Err
		}
	}
	var failed *Error
	if !errors.As(ends[0], &failed) || failed.Class != ClassTimeout || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("after %v it failed with %v", time.Since(begin), ends[0])
	}
	if ends[1] != nil {
		t.Error(ends[1])
	}
}

func TestALoopEndsWithItsContext(t *testing.T) {
	target := newVariedTarget(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, end := range through(ctx, t, target.runFor(t, "held", 0), 8) {
		var failed *Error
		if !errors.As(end.Err, &failed) || failed.Class != ClassCanceled {
			t.Errorf("item %d failed with %v", end.Number, end.Err)
		}
	}
}

// A target may close connections that are idle at any time.
func TestALoopGetsOverClosedConnections(t *testing.T) {
	target := newVariedTarget(t)
	run := target.runFor(t, "ok", 0)
	through(t.Context(), t, run, 4)
	loop := run.Loop(t.Context())
	defer loop.Close()
	for i := range 5 {
		loop.Begin(run, i, CallItem{Index: int64(i), Attempt: 1})
		ended := loop.Wait(time.Second)
		for len(ended) == 0 {
			ended = loop.Wait(time.Second)
		}
		if ended[0].Err != nil {
			t.Fatal(ended[0].Err)
		}
		target.CloseClientConnections()
	}
}

func TestALoopLeavesNothingOpen(t *testing.T) {
	target := newVariedTarget(t)
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	before := 0
	for i := range 5 {
		run := target.runFor(t, "ok", 0)
		through(t.Context(), t, run, 20)
		run.call.handler.items.client.CloseIdleConnections()
		target.CloseClientConnections()
		if i == 0 {
			before = count()
		}
	}
	if after := count(); after > before+8 { // the target may not have closed all of its own yet
		t.Errorf("%d files were open, and are %d", before, after)
	}
}

func TestALoopIsNotForAnswersOutOfTheOrdinary(t *testing.T) {
	target := newVariedTarget(t)
	run := target.runFor(t, "pieces", 0)
	loop := run.Loop(t.Context())
	defer loop.Close()
	for i := range 200 {
		if !loop.Fits() {
			return
		}
		loop.Begin(run, i, CallItem{Index: int64(i), Attempt: 1})
		ended := loop.Wait(time.Second)
		for len(ended) == 0 {
			ended = loop.Wait(time.Second)
		}
	}
	t.Error("it fits")
}
