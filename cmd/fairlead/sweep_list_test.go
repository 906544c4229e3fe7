package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// listLinesEnv is how many lines the list has; the full test has 5000000.
const listLinesEnv = "FAIRLEAD_SWEEP_LINES"

// lineLength is what each line takes, its end included.
const lineLength = 64

// Padding that makes all lines equally long.
var (
	zeros   = strings.Repeat("0", 15)
	filling = strings.Repeat("x", lineLength-1-33)
)

// lineOf returns the line of an index.
func lineOf(index int64) string {
	number := strconv.FormatInt(index, 10)
	return "user-" + zeros[len(number):] + number + "@example.org;" + filling
}

// userList is a list that is made as it is read.
type userList struct{ lines, at int64 }

// Read makes the next bytes.
func (l *userList) Read(p []byte) (n int, err error) {
	for n < len(p) && l.at < l.lines*lineLength {
		line := lineOf(l.at/lineLength) + "\n"
		copied := copy(p[n:], line[l.at%lineLength:])
		n, l.at = n+copied, l.at+int64(copied)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek goes elsewhere.
func (l *userList) Seek(offset int64, whence int) (int64, error) {
	l.at = offset + [...]int64{0, l.at, l.lines * lineLength}[whence]
	return l.at, nil
}

// listWorld is the real program, a list behind a URL, and a target that ticks off the items
// it receives.
type listWorld struct {
	*sweepWorld
	lines     int64
	list      *httptest.Server
	sent      atomic.Int64 // bytes of the list
	asked     chan int64   // where parts begin that are held
	holdParts atomic.Bool
	holdFrom  atomic.Int64 // items from here on are held by the target
	furthest  atomic.Int64 // item that it got

	ticked []atomic.Int32 // by index
	wrong  sync.Once
}

const (
	countedAtOnce = 4 << 20 // bytes of a part while lines are counted
	// slack is for parts that were read and of which something was left to do: one when a
	// node dies, and one when the next has come further and gives its shard back, since
	// a job that was in a crash runs alone until then. Each begins at a known line.
	slack = 4 << 20
)

func newListWorld(t *testing.T, lines int64) *listWorld {
	w := &listWorld{lines: lines, asked: make(chan int64, 10), ticked: make([]atomic.Int32, lines)}
	w.holdFrom.Store(lines)
	w.list = httptest.NewServer(http.HandlerFunc(w.serveList))
	t.Cleanup(w.list.Close)
	target := httptest.NewServer(http.HandlerFunc(w.serveLines))
	t.Cleanup(target.Close)
	w.sweepWorld = &sweepWorld{
		T: t, target: target,
		args: []string{"--db", sqlitetest.URL(t), "--poll", "50ms", "--beat", "200ms", "--lease", "2s"},
	}
	if lines > 1_000_000 { // a busy machine must not look like a crash
		w.args = append(w.args, "--lease", "10s")
	}
	w.node = startProcess(t, w.args...)
	return w
}

// counted is a response that counts the bytes of its body.
type counted struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

// Write counts.
func (c counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

var rangeStart = regexp.MustCompile(`^bytes=(\d+)-`)

// serveList serves parts of the list. While parts are held, the second arrives late, so
// that the count so far is stored, and the third never arrives.
func (w *listWorld) serveList(out http.ResponseWriter, r *http.Request) {
	if start := rangeStart.FindStringSubmatch(r.Header.Get("Range")); start != nil && w.holdParts.Load() {
		from, _ := strconv.ParseInt(start[1], 10, 64)
		switch {
		case from == countedAtOnce:
			<-time.After(1100 * time.Millisecond)
		case from > countedAtOnce:
			w.asked <- from
			<-r.Context().Done()
			return
		}
	}
	out.Header().Set("ETag", `"one"`)
	http.ServeContent(counted{out, &w.sent}, r, "", time.Time{}, &userList{lines: w.lines})
}

// serveLines ticks off the lines it receives.
func (w *listWorld) serveLines(_ http.ResponseWriter, r *http.Request) {
	var body struct {
		Items []struct {
			Index int64
			Data  string
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller was killed
	}
	if err := json.Unmarshal(raw, &body); err != nil || len(body.Items) == 0 {
		w.Errorf("a call has no items: %v", err)
		return
	}
	if body.Items[0].Index >= w.holdFrom.Load() {
		<-r.Context().Done()
		return
	}
	for _, item := range body.Items {
		if item.Data != lineOf(item.Index) {
			w.wrong.Do(func() { w.Errorf("item %d has the line %q", item.Index, item.Data) })
		}
		w.ticked[item.Index].Add(1)
	}
	for last, seen := body.Items[len(body.Items)-1].Index, w.furthest.Load(); last > seen && !w.furthest.CompareAndSwap(seen, last); {
		seen = w.furthest.Load()
	}
}

// restart kills the node and starts another one. It returns what the list has sent
// meanwhile.
func (w *listWorld) restart() int64 {
	w.node.kill()
	w.node = startProcess(w.T, w.args...)
	return w.sent.Swap(0)
}

func (w *listWorld) marked(path string) int64 {
	w.Helper()
	marked, err := strconv.ParseInt(w.ask(200, "GET", path, "")["progress"].(map[string]any)["marked"].(string), 10, 64)
	if err != nil {
		w.Fatal(err)
	}
	return marked
}

// memory returns the peak memory use of the node.
func (w *listWorld) memory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.node.Process.Pid))
	if found := regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(status); err == nil && found != nil {
		return string(found[1])
	}
	return "unknown"
}

// A list behind a URL is counted once and processed once, even if nodes are killed
// meanwhile: parts already counted or processed are not read again.
func TestASweepOverAListGoesOnAfterCrashes(t *testing.T) {
	tier.Long(t, "kills nodes and waits for their leases to end")
	t.Parallel()
	lines := int64(200_000)
	if text, set := os.LookupEnv(listLinesEnv); set {
		var err error
		if lines, err = strconv.ParseInt(text, 10, 64); err != nil || lines < 200_000 {
			t.Fatalf("%s is %q; it must be at least 200000", listLinesEnv, text)
		}
	}
	w := newListWorld(t, lines)
	size, begun := lines*lineLength, time.Now()
	w.holdParts.Store(true)
	w.holdFrom.Store(lines * 6 / 10)
	path := w.create("list", fmt.Sprintf(`"source":{"url":"%s"},"per_call":500,"in_flight":4,"window":16384`, w.list.URL))
	w.ask(200, "POST", path+"/start", `{}`)

	counted := <-w.asked
	w.node.kill()
	w.holdParts.Store(false)
	beforeCrash := w.restart()
	w.eventually("half is done", func() bool { return w.marked(path) > lines/2 })
	marked := w.marked(path)
	w.holdFrom.Store(lines)
	between := w.restart()
	if most := size - counted + (w.furthest.Load()+16384)*lineLength + slack; between > most {
		t.Errorf("%d bytes were read where %d were counted already, at most %d could be needed", between, counted, most)
	}
	finished := w.until(path, "finished")
	if most := size - marked*lineLength + slack; w.sent.Load() > most {
		t.Errorf("after the crash %d bytes were read, at most %d were to do", w.sent.Load(), most)
	}
	w.wantProgress(finished, map[string]string{"total": fmt.Sprint(lines), "done": fmt.Sprint(lines), "marked": fmt.Sprint(lines)})
	again := 0
	for i := range w.ticked {
		switch n := w.ticked[i].Load(); n {
		case 0:
			t.Fatalf("line %d was never sent", i)
		default:
			again += int(n) - 1
		}
	}
	t.Logf("%d lines, %d bytes: %.1fs; %d bytes until the first crash, %d until the second at line %d, %d then; %d lines were sent again; the node took %s",
		lines, size, time.Since(begun).Seconds(), beforeCrash, between, marked, w.sent.Load(), again, w.memory())
}
