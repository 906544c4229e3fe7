package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// The business refuses a sweep before it exists.
func TestAGateRefusesASweep(t *testing.T) {
	w := newSweepWorld(t)
	body := `{"name":"%s","kind":"http","args":{"url":"` + w.target.URL + `"},"to":10,"gate":{"before_create":"` + w.target.URL + `/gate"}}`
	refused := w.ask(409, "POST", sweepsPath, fmt.Sprintf(body, "refused"))
	if !strings.Contains(fmt.Sprint(refused["detail"]), "the list is not ready") {
		t.Errorf("it is refused as %v", refused)
	}
	w.ask(404, "GET", sweepsPath+"/refused", "")
	if told := w.gateTold(); told["name"] != "refused" || told["to"] != "10" {
		t.Errorf("it was told %v", told)
	}
	w.ask(200, "POST", sweepsPath, fmt.Sprintf(body, "fine"))
	if all := w.ask(200, "GET", sweepsPath, "")["items"].([]any); len(all) != 1 {
		t.Errorf("there are %v", all)
	}
}

// A sweep waits for the business, which is told again when it says nothing.
func TestAGateIsOpened(t *testing.T) {
	w := newSweepWorld(t)
	path := w.openGate()
	w.ask(200, "POST", path+"/stop", `{}`)
	w.until(path, "stopped")
}

// The business is told again when another node takes a sweep up.
func TestAGateIsToldOfAnotherNode(t *testing.T) {
	tier.Long(t, "kills a node and waits for its lease to end")
	w := newSweepWorld(t, "--lease", "3s")
	path := w.openGate()
	w.node.kill()
	before := len(w.seen())
	w.node = startProcess(t, w.args...)
	for told := w.gateTold(); told["event"] != "sweep_resumed"; told = w.gateTold() {
		if told["event"] != "sweep_waiting" { // asked before it was opened
			t.Fatalf("it is told %v", told)
		}
	}
	w.eventually("it runs on", func() bool { return len(w.seen()) > before })
	w.ask(200, "POST", path+"/stop", `{}`)
	w.until(path, "stopped")
}

// openGate starts a sweep that waits for the business, opens it, and returns its path once
// it has sent items.
func (w *sweepWorld) openGate() (path string) {
	w.Helper()
	path = w.create("gated", fmt.Sprintf(`"to":1000000,"rate":500,"gate":{"before_run":"%s/gate","timeout":"1s"}`, w.target.URL))
	if started := w.ask(200, "POST", path+"/start", `{}`); started["state"] != "waiting" {
		w.Fatalf("started it is %v", started)
	}
	for range 2 {
		if told := w.gateTold(); told["event"] != "sweep_waiting" || told["sweep_name"] != "gated" || told["open_url"] == "" {
			w.Fatalf("it is told %v", told)
		}
	}
	if calls := w.seen(); len(calls) > 0 {
		w.Fatalf("the gate is not open, and there were calls: %v", calls)
	}
	w.ask(200, "PUT", path+"/data", fmt.Sprintf(`{"args":{"url":"%s/checked"}}`, w.target.URL))
	if opened := w.ask(200, "POST", path+"/open", `{}`); opened["state"] != "running" {
		w.Fatalf("opened it is %v", opened)
	}
	w.eventually("it runs", func() bool { return len(w.seen()) > 100 })
	if first := w.seen()[0]; first.path != "/checked" {
		w.Errorf("the first call is %+v", first)
	}
	return path
}

// A sweep that runs takes up another rate and parallelism; other data must wait until
// it is stopped.
func TestASweepIsChangedWhileItRuns(t *testing.T) {
	w := newSweepWorld(t)
	release := w.holds(func(int64) bool { return true })
	path := w.start("changed", `"to":1000,"in_flight":2`)
	w.eventually("two are under way", func() bool { return w.inFlight() == 2 })
	if changed := w.ask(200, "PATCH", path, `{"in_flight":7}`); changed["in_flight"] != 7.0 || changed["state"] != "running" {
		t.Errorf("changed it is %v", changed)
	}
	w.eventually("seven are under way", func() bool { return w.inFlight() == 7 })
	w.ask(200, "PATCH", path, `{"rate":2}`) // it will never end at this rate
	if refused := w.ask(409, "PUT", path+"/data", `{"args":{"url":"http://127.0.0.1:1/"}}`); !strings.Contains(fmt.Sprint(refused["detail"]), "it is running") {
		t.Errorf("other data is refused as %v", refused)
	}
	w.ask(200, "POST", path+"/stop", `{}`)
	w.untilQuiet() // nothing begins any more
	release()
	w.until(path, "stopped")
	sent := len(w.seen())
	w.ask(200, "PUT", path+"/data", fmt.Sprintf(`{"args":{"url":"%s/second"}}`, w.target.URL))
	w.ask(200, "POST", path+"/start", `{}`)
	w.eventually("it goes on", func() bool { return len(w.seen()) > sent })
	w.ask(200, "PATCH", path, `{"rate":100000}`)
	w.until(path, "finished")
	w.wantAll(1000)
	for i, call := range w.seen() {
		if want := map[bool]string{true: "/first", false: "/second"}[i < sent]; call.path != want {
			t.Fatalf("call %d of %d was %+v", i, sent, call)
		}
	}
}

// What the state of a sweep forbids is a conflict, and the answer names the state.
func TestIllegalMovesOfSweepsAreConflicts(t *testing.T) {
	w := newSweepWorld(t)
	release := w.holds(func(index int64) bool { return index == 3 })
	path := w.create("moved", fmt.Sprintf(`"to":10,"gate":{"before_run":"%s/gate"}`, w.target.URL))
	refused := func(state string, moves ...string) {
		t.Helper()
		if now := w.ask(200, "GET", path, "")["state"]; now != state {
			t.Fatalf("it is %v, not %s", now, state)
		}
		for _, move := range moves {
			verb, address, body := "POST", path+"/"+move, `{}`
			switch move {
			case "delete":
				verb, address, body = "DELETE", path, ""
			case "data":
				verb, address, body = "PUT", path+"/data", fmt.Sprintf(`{"args":{"url":%q}}`, w.target.URL)
			}
			answer := w.ask(409, verb, address, body)
			if !strings.Contains(fmt.Sprint(answer["detail"]), " is "+state) {
				t.Errorf("%s of one that is %s is refused as %v", move, state, answer["detail"])
			}
		}
	}
	refused("created", "stop", "open")
	w.ask(200, "POST", path+"/start", `{}`)
	refused("waiting", "start", "delete")
	w.ask(200, "POST", path+"/stop", `{}`)
	refused("stopped", "stop", "open")
	w.ask(200, "POST", path+"/start", `{}`)
	w.ask(200, "POST", path+"/open", `{}`)
	w.eventually("an item is held", func() bool { return len(w.seen()) == 10 && w.inFlight() == 1 })
	refused("running", "start", "open", "delete", "data")
	if answer := w.ask(409, "PATCH", path, `{"to":20}`); !strings.Contains(fmt.Sprint(answer["detail"]), "\"to\" can no longer be changed") {
		t.Errorf("another end is refused as %v", answer["detail"])
	}
	w.ask(200, "POST", path+"/stop", `{}`)
	refused("stopping", "start", "open", "delete", "data")
	release()
	w.until(path, "finished") // nothing was left to do
	refused("finished", "start", "stop", "open")
	w.ask(200, "DELETE", path, "")
	w.ask(404, "POST", path+"/start", `{}`)
}
