package browser

import (
	"context"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// openAGate opens the gate at which a sweep waits.
func openAGate(t *testing.T, lang string) {
	w := newWorks(t, server.Auth{})
	s, err := w.sweeps.Put(t.Context(), sweep.Sweep{Name: "spring", Kind: "mail", To: 6, Gate: sweep.Gate{BeforeRun: "https://shop.example/ready"}})
	if err != nil {
		t.Fatal(err)
	}
	as := wide
	as.lang = lang
	tab := open(t, w.url, as)
	tab.visit("/sweeps")
	row := fmt.Sprintf(`#sweep-%d .row-actions `, s.ID)
	tab.pressed(row + `a[href*="/start"]`)
	if now, err := w.sweeps.Get(t.Context(), s.Name); err != nil || now.State != sweep.Waiting {
		t.Errorf("a sweep with a gate is started, and is %+v, %v", now, err)
	}
	tab.press(row + `a[href*="/open"]`)
	tab.accessible("/open")
	tab.shot("sweep-open-" + lang)
	tab.confirm()
	tab.quiet("/open")
	if now := w.ended(s.ID); now.State != sweep.Finished {
		t.Errorf("the gate is open, and the sweep is %+v", now)
	}
}

// ended waits for the end of a sweep's run.
func (w *works) ended(id int64) sweep.Sweep {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	now, err := w.sweeps.Wait(ctx, id)
	if err != nil {
		w.Fatal(err)
	}
	return now
}

// walkSweep performs all actions on a sweep.
func (w *works) walkSweep(tab *tab) {
	w.Helper()
	s, err := w.sweeps.Put(w.Context(), sweep.Sweep{Name: "spring", Kind: "mail", To: 6, Rate: 0.0001})
	if err != nil {
		w.Fatal(err)
	}
	tab.visit("/sweeps")
	tab.pressed(fmt.Sprintf(`#sweep-%d .row-actions a[href*="/start"]`, s.ID))
	tab.visit(fmt.Sprint("/sweeps/", s.ID))
	tab.pressed(`#sweep-actions a[href*="/stop"]`)
	w.ended(s.ID)
	tab.await(`document.querySelector("#sweep-actions a[href*='/start']") !== null`)
	tab.press(`#sweep-actions a[href*="/set"]`)
	tab.accessible("/sweeps/set")
	tab.fill("rate", "0")
	tab.confirm()
	tab.pressed(`#sweep-actions a[href*="/start"]`)
	if now := w.ended(s.ID); now.State != sweep.Finished || now.Progress.Abandoned != 1 {
		w.Errorf("the sweep is %+v", now)
	}
	tab.await(`document.querySelector("#sweep-actions a[href*='/retry']") !== null`)
	tab.pressed(`#sweep-actions a[href*="/retry"]`)
	w.ended(s.ID)
	tab.await(`document.querySelector("#sweep-actions a[href*='/delete']") !== null`)
	tab.pressed(`#sweep-actions a[href*="/delete"]`)
	tab.await(`location.pathname === "/sweeps"`)
}
