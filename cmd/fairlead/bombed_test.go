package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// bombed is a node that is attacked, in a process of its own. Callers need a token, and
// targets on this machine may be called.
type bombed struct {
	*process
	secret string // of an admin
	idle   int64  // bytes in memory before the attack
	peak   int64  // most bytes in memory during the attacks that endures has carried out
}

func startBombed(t *testing.T, args ...string) *bombed {
	t.Helper()
	dir, secret := t.TempDir(), strings.Repeat("s3cret", 8)
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--db", "sqlite://" + filepath.Join(dir, "jobs.db"), "--token-file", file, "--allow-target", "127.0.0.1"}, args...)
	n := &bombed{process: startProcess(t, args...), secret: secret}
	for range 20 { // what each node loads when it is first used is none of the attack's
		n.enqueueOne(t, `{"kind":"noop","tenant":"other"}`)
		n.status(t, "/login")
	}
	n.idle = n.memory(t, "VmRSS")
	return n
}

// ask sends a request of the admin's and reads the answer.
func (n *bombed) ask(t *testing.T, verb, path, body string) (status int, answer map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), verb, n.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+n.secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Errorf("%s %s: %v", verb, path, err)
		return 0, nil
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body)
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Errorf("%s %s: %s %.200s", verb, path, response.Status, raw)
	}
	return response.StatusCode, answer
}

// enqueueOne stores a job and returns its id; it is empty if the job was refused.
func (n *bombed) enqueueOne(t *testing.T, job string) (id string) {
	t.Helper()
	status, answer := n.ask(t, http.MethodPost, "/api/v1/jobs", `{"jobs":[`+job+`]}`)
	ids, _ := answer["ids"].([]any)
	if status != http.StatusOK || len(ids) != 1 {
		return ""
	}
	return ids[0].(string)
}

// wait waits until a job has ended. It fails if that takes very long.
func (n *bombed) wait(t *testing.T, id string) (job map[string]any) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 10*time.Minute; <-time.After(20 * time.Millisecond) {
		_, job = n.ask(t, http.MethodGet, "/api/v1/jobs/"+id, "")
		if state, _ := job["state"].(string); job == nil || fairlead.State(state).Final() {
			return job
		}
	}
	t.Errorf("job %s has not ended: %v", id, job)
	return nil
}

// others are the jobs of a tenant that has nothing to do with the attack.
type others struct {
	ended chan struct{}
	done  chan int
}

// runOthers runs one job after the other until stop.
func (n *bombed) runOthers(t *testing.T) *others {
	o := &others{ended: make(chan struct{}), done: make(chan int, 1)}
	go func() {
		ran := 0
		defer func() { o.done <- ran }()
		for {
			id := n.enqueueOne(t, `{"kind":"noop","tenant":"other"}`)
			if id == "" || n.wait(t, id)["state"] != "succeeded" {
				t.Error("a job of another tenant did not run")
				return
			}
			ran++
			select {
			case <-o.ended:
				return
			case <-time.After(10 * time.Millisecond): // they are few
			}
		}
	}()
	return o
}

// stop ends the jobs of the others.
func (o *others) stop(t *testing.T) {
	t.Helper()
	close(o.ended)
	ran := <-o.done
	t.Logf("%d jobs of another tenant ran meanwhile", ran)
	if ran == 0 {
		t.Error("no job of another tenant ran")
	}
}

// mostGrowth is the number of bytes by which an attack may make the memory of a node grow.
const mostGrowth = 200_000_000

// wantSmall checks that the node lives, by how much its memory has grown at most, and that
// nothing is left in its temporary directory.
func (n *bombed) wantSmall(t *testing.T) {
	t.Helper()
	if n.status(t, "/readyz") != http.StatusOK {
		t.Error("the node is not ready")
	}
	left, err := os.ReadDir(n.tmp)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		t.Errorf("%s is left in the temporary directory", file.Name())
	}
	peak := max(n.peak, n.peakNow(t))
	t.Logf("the node had %d MiB in memory while idle, and %d at most", n.idle>>20, peak>>20)
	if peak-n.idle > mostGrowth {
		t.Errorf("its memory grew by %d bytes, more than %d", peak-n.idle, mostGrowth)
	}
}

// peakNow returns the peak memory use of the process since forgetPeak was called.
func (n *bombed) peakNow(t *testing.T) int64 { return n.memory(t, "VmHWM") }

// endures carries out an attack and reports by how much the memory of the node grew. On a
// starved machine, the node collects garbage and returns memory late. An attack that exceeds
// the limit is therefore repeated up to twice: memory that it really makes the node hold, it
// makes it hold each time.
func (n *bombed) endures(t *testing.T, name string, attack func()) {
	t.Helper()
	for tries := 3; tries > 0; tries-- {
		n.forgetPeak()
		attack()
		peak := n.peakNow(t)
		t.Logf("%s: %d MiB more than idle, at most", name, (peak-n.idle)>>20)
		if peak-n.idle <= mostGrowth || tries == 1 {
			n.peak = max(n.peak, peak)
			break
		}
	}
	n.forgetPeak()
	if n.status(t, "/livez") != http.StatusOK {
		t.Fatalf("%s: the node is not live", name)
	}
}

// forgetPeak resets peakNow, if the system supports that.
func (n *bombed) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", n.Process.Pid), []byte("5"), 0)
}

// memory reads one of the sizes of the process.
func (n *bombed) memory(t *testing.T, name string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.Process.Pid))
	if err != nil {
		t.Skip("there is no /proc here")
	}
	found := regexp.MustCompile(name + `:\s*(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("the process has gone:\n%s", status)
	}
	size, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return size << 10
}
