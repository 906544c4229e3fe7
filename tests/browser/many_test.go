package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// works is a service with a node that paints walls, mails letters and greets. Wall 3 is wet
// until dry is set, letter 3 has no address, and a greeting takes until goOn is closed.
type works struct {
	*testing.T
	url     string
	dry     atomic.Bool
	goOn    chan struct{}
	jobs    *fairlead.Client
	plans   *schedule.Client
	batches *batch.Client
	sweeps  *sweep.Client
}

func newWorks(t *testing.T, auth server.Auth) *works {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "works.db"))
	if err != nil {
		t.Fatal(err)
	}
	mux := fairlead.NewMux()
	w := &works{
		T: t, goOn: make(chan struct{}), jobs: fairlead.NewClient(store), plans: schedule.NewClient(store),
		batches: batch.NewClient(store).Knowing(mux), sweeps: sweep.NewClient(store),
	}
	mux.Handle("greet", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(ctx context.Context, _ *fairlead.Job) error {
		select {
		case <-w.goOn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	batch.Handle(mux, batch.Operation{TargetType: "wall", BatchType: "paint", Process: func(_ context.Context, task batch.TaskArgs) error {
		if task.Target.ID == "3" && !w.dry.Load() {
			return fairlead.Fatal(errors.New("wall 3 is wet"))
		}
		return nil
	}})
	items.Handle(mux, store, "mail", items.Options{}, func(_ context.Context, item items.Item[map[string]any]) error {
		if item.Index == 3 {
			return items.Abandon(errors.New("no address"))
		}
		return nil
	})
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Poll: 20 * time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	service, err := server.New(node, store, server.Options{Version: "test", Log: log, Auth: auth, Kinds: mux, Stopping: stopping, Console: func(api http.Handler) (http.Handler, error) {
		return console.New(api, console.Options{Version: "test", Stopping: stopping, Log: log})
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	web := httptest.NewServer(service)
	w.url = web.URL
	t.Cleanup(func() {
		close(stopping)
		web.Close()
		stop()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// until waits until a batch meets a condition.
func (w *works) until(id int64, what string, is func(*batch.Batch) bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	for {
		b, err := w.batches.Get(ctx, id)
		if err == nil && is(&b) {
			return
		}
		select {
		case <-ctx.Done():
			w.Fatalf("batch %d is not %s: %+v, %v", id, what, b, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// pressed opens a form with its button, checks it, and sends it.
func (t *tab) pressed(selector string) {
	t.Helper()
	t.press(selector)
	t.accessible(selector)
	t.confirm()
	t.quiet(selector)
}

// fill types into a field of the open form.
func (t *tab) fill(name, text string) {
	t.Helper()
	value[bool](t, fmt.Sprintf(`(() => { document.querySelector("#dialog [name='%s']:not([type=hidden])").value = %s; return true; })()`, name, quoted(text)))
}

const wallsCSV = "target_id,target_name,target_type,before,after\n" +
	"1,north,wall,\"{\"\"colour\"\":\"\"white\"\"}\",\"{\"\"colour\"\":\"\"red\"\"}\"\n2,south,wall,{},{}\n3,east,wall,{},{}\n"

// upload chooses a file in the open form, checks it, and creates a batch from it.
func (t *tab) upload(name, content, lang string) {
	t.Helper()
	t.press("#batches-actions a")
	t.accessible("/new/batch")
	t.fill("name", name)
	t.fill("type", "paint")
	t.fill("canary.tasks", "1")
	t.fill("lines", "target_id,target_type\n1,roof\n")
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(`document.querySelector("#dialog #faults") !== null`)
	t.shot("faults-" + lang)
	t.complaints = nil // the browser reports every response with status 400
	value[bool](t, fmt.Sprintf(`(() => { const sent = new DataTransfer(); sent.items.add(new File([%s], "walls.csv", {type: "text/csv"})); document.querySelector("#dialog input[type=file]").files = sent.files; return true; })()`, quoted(content)))
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(`document.querySelector("#dialog #preview") !== null`)
	t.accessible("the preview of a batch")
	t.shot("preview-" + lang)
	t.confirm()
	t.quiet("/new/batch")
}

// actOnBatchesAndSweeps performs all actions on a batch and a sweep.
func actOnBatchesAndSweeps(t *testing.T, lang string) {
	w := newWorks(t, server.Auth{})
	as := wide
	as.lang = lang
	tab := open(t, w.url, as)
	tab.visit("/batches")
	tab.upload("all red", wallsCSV, lang)
	tab.await(`location.pathname === "/batches/1"`)
	w.until(1, "awaiting", func(b *batch.Batch) bool { return b.Awaiting })
	tab.await(`document.querySelector("#batch-actions a[href*='/approve']") !== null`)
	tab.pressed(`#batch-actions a[href*="/approve"]`)
	w.until(1, "completed", func(b *batch.Batch) bool { return b.Completions == 1 })
	w.dry.Store(true)
	tab.await(`document.querySelector("#batch-actions a[href*='/retry']") !== null`)
	tab.pressed(`#batch-actions a[href*="/retry"]`)
	w.until(1, "a success", func(b *batch.Batch) bool { return b.State() == batch.Success })
	tab.await(`document.querySelector("#batch-actions a[href*='/rollback']") !== null`)
	tab.pressed(`#batch-actions a[href*="/rollback"]`)
	w.until(1, "rolled back", func(b *batch.Batch) bool { return b.State() == batch.RollbackSuccess })
	tab.await(`document.getElementById("figure-rollback_success")?.innerText.includes("3")`)

	slow, err := w.batches.Start(t.Context(), batch.Batch{Name: "slow", Type: "paint", Rate: 0.0001}, batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}, batch.Change{Target: batch.Target{ID: "2", Type: "wall"}})
	if err != nil {
		t.Fatal(err)
	}
	tab.visit("/batches")
	row := fmt.Sprintf(`#batch-%d .row-actions `, slow.ID)
	tab.pressed(row + `a[href*="/pause"]`)
	tab.pressed(row + `a[href*="/resume"]`)
	tab.visit("/batches/2")
	tab.press(`#batch-actions a[href*="/pace"]`)
	tab.fill("max_running", "7")
	tab.confirm()
	tab.pressed(`#batch-actions a[href*="/cancel"]`)
	w.until(slow.ID, "cancelled with its new pace", func(b *batch.Batch) bool { return b.MaxRunning == 7 && b.Cancelled })
	w.walkSweep(tab)
}
