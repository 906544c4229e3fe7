package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// hostile returns a text that runs a script wherever a page treats it as HTML, an attribute
// or a script. Its end identifies the field.
func hostile(field string) string {
	return `"'><img src=x onerror=window.ran=1><script>window.ran=1</script></title><svg/onload=window.ran=1>{{.}}${7*7}` + field
}

// poison fills a database with hostile texts: in every field that a user can set, and in
// responses of handlers.
func poison(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit)
	defer cancel()
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	document := func(field string) json.RawMessage {
		raw, err := json.Marshal(map[string]string{hostile("name of " + field): hostile(field)})
		must(err)
		return raw
	}
	jobs, plans, batches, sweeps := fairlead.NewClient(store), schedule.NewClient(store), batch.NewClient(store), sweep.NewClient(store)
	kinds := fairlead.NewMux()
	kinds.Handle(hostile("kind"), fairlead.HandlerOptions{MaxAttempts: 1}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
		return fairlead.Fatal(errors.New(hostile("error")))
	}))
	batch.Handle(kinds, batch.Operation{TargetType: "wall", BatchType: "paint", Process: func(context.Context, batch.TaskArgs) error {
		return fairlead.Fatal(errors.New(hostile("error of a task")))
	}})
	items.Handle(kinds, store, "look", items.Options{}, func(context.Context, items.Item[json.RawMessage]) error {
		return errors.New(hostile("error of an item"))
	})
	batches = batches.Knowing(kinds)
	_, err = jobs.PutTenant(ctx, fairlead.Tenant{Name: hostile("tenant"), Labels: map[string]string{hostile("label"): hostile("value")}, MaxRunning: 9})
	must(err)
	must(jobs.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: hostile("kind"), MaxRunning: 5}))
	must(jobs.PauseQueue(ctx, hostile("paused queue")))
	calendar, err := plans.PutCalendar(ctx, schedule.Calendar{Name: hostile("calendar"), Description: hostile("description of a calendar"), Dates: []string{"12-25"}})
	must(err)
	_, err = plans.Put(ctx, schedule.Schedule{
		Name: hostile("schedule"), Description: hostile("description"), Cron: "* * * * *", Calendar: calendar.Name,
		Job: fairlead.Job{Kind: hostile("kind"), Tenant: hostile("tenant"), Queue: hostile("queue"), Args: document("args of a schedule")},
	})
	must(err)
	for i, queue := range []string{"", hostile("queue"), hostile("paused queue")} {
		must(jobs.Enqueue(ctx, &fairlead.Job{Kind: hostile("kind"), Tenant: hostile("tenant"), Queue: queue, Key: hostile(fmt.Sprint("key ", i)), ConcurrencyKey: hostile(fmt.Sprint("gate ", i)), Args: document("args"), Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}))
	}
	must(jobs.Enqueue(ctx, &fairlead.Job{Kind: hostile("kind that no node handles"), Tenant: hostile("tenant")}))
	started, err := batches.Start(ctx, batch.Batch{
		Name: hostile("batch"), Type: "paint", Description: hostile("description of a batch"), Creator: hostile("creator"), Env: hostile("env"), Tenant: hostile("tenant"),
		Service: hostile("service"), Info: document("info"),
	}, batch.Change{Target: batch.Target{ID: hostile("target"), Name: hostile("target's name"), Type: "wall"}, After: document("after"), Before: document("before")})
	must(err)
	swept, err := sweeps.Put(ctx, sweep.Sweep{Name: hostile("sweep"), Kind: "look", Data: document("args of a sweep"), To: 5, Attempts: 1, Tenant: hostile("tenant")})
	must(err)
	_, err = sweeps.Start(ctx, swept.ID, hostile("starter"))
	must(err)
	must(sweeps.Log(ctx, swept.ID, sweep.Log{Index: 1, Level: "error", Text: hostile("log")}))
	_, err = store.AddToken(ctx, access.Token{Name: hostile("token"), Role: access.RoleViewer, Tenants: []string{hostile("tenant")}, Hash: server.HashSecret("x")})
	must(err)
	must(store.Audit(ctx, []access.Entry{{Actor: hostile("actor"), Role: access.RoleAdmin, Action: "PauseQueue", Subject: hostile("subject"), Tenant: hostile("tenant"), Before: document("before"), After: document("after"), Error: hostile("error of an entry"), From: "127.0.0.1"}}))

	node, err := engine.New(store, kinds, engine.Options{Name: hostile("node"), Address: "http://" + "node.example", Version: hostile("version"), Logger: slog.New(slog.DiscardHandler), Poll: 20 * time.Millisecond})
	must(err)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- node.Run(running) }()
	for _, done := range []func() (bool, error){
		func() (bool, error) {
			page, err := jobs.Find(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Failed}})
			return len(page.Jobs) >= 3, err
		},
		func() (bool, error) {
			now, err := batches.Get(ctx, started.ID)
			return err == nil && !now.Status.EndedAt.IsZero(), err
		},
	} {
		for {
			ok, err := done()
			must(err)
			if ok {
				break
			}
			select {
			case <-ctx.Done():
				t.Fatal("the jobs do not fail")
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	stop()
	must(errors.Join(<-ended, store.Close()))
}

func TestHostileTextsAreShownAsTexts(t *testing.T) {
	tier.Long(t, "looks at every screen")
	t.Parallel()
	file := filepath.Join(t.TempDir(), "hostile.db")
	poison(t, file)
	url := freeze(t, file, "", server.Auth{})
	tab := open(t, url, wide)
	shown := 0
	paths := every(tab, func(path string) {
		tab.quiet(path)
		if value[bool](tab, `window.ran !== undefined || document.querySelector("main img, main script, svg[onload], [onerror]") !== null`) {
			t.Errorf("%s runs what it shows", path)
		}
		shown += value[int](tab, `document.querySelector("main").innerText.split("onerror=window.ran=1").length - 1`)
	})
	t.Log(fmt.Sprintf("%d hostile texts on %d screens", shown, len(paths)))
	if shown < len(paths) {
		t.Errorf("only %d hostile texts are shown on %d screens", shown, len(paths))
	}
}
