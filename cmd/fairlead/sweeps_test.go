package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// No item is sent later than a second after a stop was answered. The second is counted in
// items, because a slow machine may take longer. Items in progress are completed, and the
// sweep later continues from where it stopped.
func TestASweepStopsWithinASecondAndGoesOn(t *testing.T) {
	w := newSweepWorld(t)
	const items, rate = 1000, 200
	slow := []int64{3, 40, 41}
	release := w.holds(func(index int64) bool { return slices.Contains(slow, index) })
	path := w.start("stopped", fmt.Sprintf(`"to":%d,"rate":%d,"in_flight":16`, items, rate))
	most := tier.Size(t, items, rate, "how many items are sent after a stop depends on the machine")
	w.eventually("a hundred items were sent", func() bool { return len(w.seen()) >= 100 })
	w.ask(200, "POST", path+"/stop", `{"reason":"lunch"}`)
	answered := len(w.seen())
	w.eventually("only the slow items are under way", func() bool { return w.inFlight() == len(slow) })
	if sweep := w.ask(200, "GET", path, ""); sweep["state"] != "stopping" {
		t.Fatalf("with %d items under way it is %v", w.inFlight(), sweep)
	}
	w.ask(200, "POST", path+"/stop", `{}`) // it is on its way
	release()
	stopped := w.until(path, "stopped")
	before := w.seen()
	if late := len(before) - answered; late > most {
		t.Errorf("%d items were sent after the stop, more than in a second", late)
	}
	w.wantProgress(stopped, map[string]string{"done": fmt.Sprint(len(before)), "total": fmt.Sprint(items), "in_window": "0"})
	if stopped["reason"] != "lunch" {
		t.Errorf("it stopped as %v", stopped["reason"])
	}
	w.ask(200, "PATCH", path, `{"rate":100000}`)
	w.ask(200, "POST", path+"/start", `{}`)
	w.wantProgress(w.until(path, "finished"), map[string]string{"done": fmt.Sprint(items), "abandoned": "0"})
	if again := w.wantAll(items); again != 0 {
		t.Errorf("%d items were sent again, and all was known when it stopped", again)
	}
}

// A killed node loses nothing, and only items whose result was not stored yet are repeated.
func TestASweepOutlivesItsNode(t *testing.T) {
	tier.Long(t, "kills nodes and waits for their leases to end")
	w := newSweepWorld(t, "--lease", "3s")
	const items, rate, inFlight = 1200, 400, 8
	path := w.start("killed", fmt.Sprintf(`"to":%d,"rate":%d,"in_flight":%d`, items, rate, inFlight))
	for _, reached := range []int{400, 900} {
		w.eventually("it has come further", func() bool { return len(w.seen()) >= reached })
		w.node.kill()
		w.node = startProcess(t, w.args...)
	}
	w.wantProgress(w.until(path, "finished"), map[string]string{"done": fmt.Sprint(items), "marked": fmt.Sprint(items)})
	// A run begins nothing later than a second after its last checkpoint.
	if again := w.wantAll(items); again > 2*(rate*11/10+inFlight) {
		t.Errorf("%d items were sent again", again)
	} else {
		t.Logf("%d items were sent again", again)
	}
}

// Failed items use up a budget, given by number or by percentage. Then the sweep stops and
// lists the failed items.
func TestErrorsUseUpTheBudgetOfASweep(t *testing.T) {
	for name, c := range map[string]struct {
		budget      string
		least, most int
	}{
		"number":     {`{"items":3}`, 3, 3},
		"percentage": {`{"percent":5}`, 50, 5000}, // of those that were seen at checkpoints
	} {
		t.Run(name, func(t *testing.T) {
			w := newSweepWorld(t)
			w.answers(func(call sweepCall) (int, string) {
				if call.index%5 == 4 {
					return 500, "out of paper"
				}
				return 204, ""
			})
			path := w.start("failing", `"to":100000,"attempts":2,"in_flight":4,"error_budget":`+c.budget)
			stopped := w.until(path, "stopped")
			failed := w.ask(200, "GET", path+"/failed?page_size=1000", "")["items"].([]any)
			count, err := strconv.Atoi(stopped["progress"].(map[string]any)["abandoned"].(string))
			if err != nil || count < c.least || count > c.most || len(failed) != min(count, 1000) {
				t.Errorf("it stopped after %d items failed, and %d are listed", count, len(failed))
			}
			reason := fmt.Sprint(stopped["reason"])
			if !strings.Contains(reason, "budget") && !strings.Contains(reason, "items failed") {
				t.Errorf("it tells %s", reason)
			}
			for _, item := range failed {
				item := item.(map[string]any)
				if item["attempts"] != 2.0 || !strings.Contains(fmt.Sprint(item["error"]), "500") {
					t.Errorf("a failed item is %v", item)
				}
			}
			// The target is mended. What failed before does not count any more.
			w.answers(func(sweepCall) (int, string) { return 204, "" })
			w.ask(200, "POST", path+"/start", `{}`)
			reached := len(w.seen()) + 50
			w.eventually("it goes on", func() bool { return len(w.seen()) >= reached })
			w.ask(200, "POST", path+"/stop", `{}`)
			w.until(path, "stopped")
		})
	}
}

// A target gives items up by its answer, or by failing them too often.
func TestItemsAreGivenUp(t *testing.T) {
	w := newSweepWorld(t)
	w.answers(func(call sweepCall) (int, string) {
		switch {
		case call.index == 5:
			return 200, `{"failed":[{"index":5,"error":"no such user","abandon":true}]}`
		case call.index == 6:
			return 404, ""
		case call.index == 7:
			return 503, ""
		case call.index == 8 && call.attempt < 3:
			return 200, `{"failed":[{"index":8,"error":"busy"}]}`
		}
		return 204, ""
	})
	path := w.start("some", `"to":50,"attempts":3`)
	w.wantProgress(w.until(path, "finished"), map[string]string{"done": "47", "abandoned": "3", "marked": "50", "errors": "7"})
	want := map[string][2]string{"5": {"1", "no such user"}, "6": {"1", "404"}, "7": {"3", "503"}}
	failed := w.ask(200, "GET", path+"/failed", "")["items"].([]any)
	for _, item := range failed {
		item := item.(map[string]any)
		expected := want[item["index"].(string)]
		if fmt.Sprint(item["attempts"]) != expected[0] || !strings.Contains(fmt.Sprint(item["error"]), expected[1]) {
			t.Errorf("failed is %v, want %v", item, expected)
		}
	}
	if len(failed) != len(want) {
		t.Errorf("failed are %v", failed)
	}
	attempts := map[int64]int{}
	for _, call := range w.seen() {
		attempts[call.index]++
	}
	if attempts[5] != 1 || attempts[6] != 1 || attempts[7] != 3 || attempts[8] != 3 || attempts[9] != 1 {
		t.Errorf("they were sent so often: %v", attempts)
	}
}

// A serial sweep sends one item after the other, also when one fails, takes up new
// data at once, and is finished by its target.
func TestASerialSweep(t *testing.T) {
	w := newSweepWorld(t)
	w.answers(func(call sweepCall) (int, string) {
		switch {
		case call.index == 10 && call.attempt < 3:
			return 500, ""
		case call.path == "/second" && call.index >= 60:
			return 200, `{"finish":true}`
		}
		return 204, ""
	})
	path := w.start("serial", `"to":1000000,"serial":true,"rate":200`)
	w.eventually("some were sent", func() bool { return len(w.seen()) > 20 })
	w.ask(200, "PUT", path+"/data", fmt.Sprintf(`{"args":{"url":"%s/second"}}`, w.target.URL))
	w.until(path, "finished")
	calls := w.seen()
	next := int64(0)
	for i, call := range calls {
		if i > 0 && call.index == calls[i-1].index {
			continue // it failed, and is tried again before all others
		}
		if call.index != next {
			t.Fatalf("item %d came when %d was due", call.index, next)
		}
		next++
	}
	last := calls[len(calls)-1]
	if w.most != 1 || calls[0].path != "/first" || last.path != "/second" || last.index < 60 {
		t.Errorf("%d were under way at once, from %+v to %+v", w.most, calls[0], last)
	}
}
