package main

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// greeted reads which items a worker says it has handled, until it has said enough or
// ends.
func (w *exampleWorker) greeted(into map[int]int, enough func() bool) {
	for !enough() {
		line, err := w.lines.ReadString('\n')
		if err != nil {
			return
		}
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "greeting ")
		if n, err := strconv.Atoi(text); ok && err == nil {
			into[n]++
		}
	}
}

// A worker in another language handles the items of a sweep. Some items fail permanently.
func TestThePythonWorkerFinishesASweep(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	node := startServe(t, "--db", sqlitetest.URL(t), "--lease", "1m", "--poll", "20ms")
	node.send(t, "POST", "/api/v1/sweeps", `{"name":"greetings","kind":"greet","args":{"bad":[7]},"to":60,"attempts":2,"backoff":"10ms"}`)
	node.send(t, "POST", "/api/v1/sweeps/greetings/start", `{}`)
	greeted := map[int]int{}
	worker := startPythonWorker(t, "sweep_worker.py", node.url)
	worker.greeted(greeted, func() bool { return len(greeted) == 59 })
	finished := node.untilSweep(t, "greetings", "finished")
	if progress := finished["progress"].(map[string]any); progress["done"] != "59" || progress["abandoned"] != "1" || progress["marked"] != "60" || progress["errors"] != "2" {
		t.Errorf("it ended with %v", progress)
	}
	node.send(t, "PUT", "/api/v1/sweeps/greetings/data", `{"args":{"bad":[]}}`)
	node.send(t, "POST", "/api/v1/sweeps/greetings/retry", `{}`)
	worker.greeted(greeted, func() bool { return greeted[7] > 0 })
	if progress := node.untilSweep(t, "greetings", "finished")["progress"].(map[string]any); progress["done"] != "60" || progress["abandoned"] != "0" {
		t.Errorf("tried again, it ended with %v", progress)
	}
	if err := worker.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("the worker did not leave: %v", err)
	}
}

// A worker in another language handles the items of a sweep. Some items fail permanently.
func TestThePythonWorkerGoesOverASweep(t *testing.T) {
	tier.Long(t, "kills a worker and waits for its lease to end")
	need(t, "python3")
	t.Parallel()
	node := startServe(t, "--db", sqlitetest.URL(t), "--beat", "200ms", "--lease", "1s", "--poll", "100ms")
	greeted := map[int]int{}
	atLeast := func(n int) func() bool { return func() bool { return len(greeted) >= n } }
	never := func() bool { return false }
	node.send(t, "POST", "/api/v1/sweeps", `{"name":"greetings","kind":"greet","args":{"bad":[7,900]},"to":1200,"rate":200,"attempts":2,"backoff":"10ms"}`)
	node.send(t, "POST", "/api/v1/sweeps/greetings/start", `{}`)

	first := startPythonWorker(t, "sweep_worker.py", node.url)
	first.greeted(greeted, atLeast(250))
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.greeted(greeted, never)
	_ = first.Wait()

	second := startPythonWorker(t, "sweep_worker.py", node.url)
	second.greeted(greeted, atLeast(450))
	answered := doneOf(t, node.send(t, "POST", "/api/v1/sweeps/greetings/stop", `{"reason":"lunch"}`))
	stopped := doneOf(t, node.untilSweep(t, "greetings", "stopped"))
	node.send(t, "PATCH", "/api/v1/sweeps/greetings", `{"rate":1000}`)
	before := len(greeted)
	node.send(t, "POST", "/api/v1/sweeps/greetings/start", `{}`)
	// What was done in the second before the answer may not have been stored.
	if late := stopped - answered; late > (3+1)*200 {
		t.Errorf("%d items were handled until it stopped, more than in three seconds", late)
	}
	second.greeted(greeted, atLeast(before+300))
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	second.greeted(greeted, never)
	if err := second.Wait(); err != nil {
		t.Errorf("the worker did not leave: %v", err)
	}

	third := startPythonWorker(t, "sweep_worker.py", node.url)
	third.greeted(greeted, atLeast(1198))
	finished := node.untilSweep(t, "greetings", "finished")
	if progress := finished["progress"].(map[string]any); progress["done"] != "1198" || progress["abandoned"] != "2" || progress["marked"] != "1200" || progress["errors"] != "4" {
		t.Errorf("it ended with %v", progress)
	}
	failed := node.send(t, "GET", "/api/v1/sweeps/greetings/failed", "")
	if items := failed["items"].([]any); len(items) != 2 || items[1].(map[string]any)["index"] != "900" || items[1].(map[string]any)["attempts"] != 2.0 {
		t.Errorf("failed are %v", failed)
	}
	repeats := 0
	for i := range 1200 {
		if bad := i == 7 || i == 900; greeted[i] == 0 != bad {
			t.Fatalf("item %d was greeted %d times", i, greeted[i])
		}
		repeats += max(0, greeted[i]-1)
	}
	if repeats > 300 { // what a second brings, and some more on a slow machine
		t.Errorf("%d items were repeated, of which only the kill may have caused any", repeats)
	}
	node.send(t, "PUT", "/api/v1/sweeps/greetings/data", `{"args":{"bad":[900]}}`)
	node.send(t, "POST", "/api/v1/sweeps/greetings/retry", `{}`)
	third.greeted(greeted, func() bool { return greeted[7] > 0 })
	again := node.untilSweep(t, "greetings", "finished")
	if progress := again["progress"].(map[string]any); progress["done"] != "1199" || progress["abandoned"] != "1" {
		t.Errorf("tried again, it ended with %v", progress)
	}
	if err := third.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("the worker did not leave: %v", err)
	}
}

// doneOf returns the number of completed items of a sweep.
func doneOf(t *testing.T, sweep map[string]any) int {
	t.Helper()
	done, err := strconv.Atoi(sweep["progress"].(map[string]any)["done"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return done
}
