package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// planning opens a tab for a database with schedules for which no node starts runs.
func planning(t *testing.T, lang string, schedules ...schedule.Schedule) (*tab, *schedule.Client) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "planning.db")
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	client := schedule.NewClient(store)
	for _, s := range schedules {
		if _, err := client.Put(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	as := wide
	as.lang = lang
	return open(t, freeze(t, file, "", server.Auth{}), as), client
}

// enters types into a field of the open form.
func (t *tab) enters(name, text string) {
	t.Helper()
	value[bool](t, fmt.Sprintf(`(() => {
		const field = [...document.querySelectorAll("form.act [name=%s]")].find(f => f.type !== "radio" || f.value === %q);
		if (field.type === "radio" || field.type === "checkbox") field.checked = true; else field.value = %q;
		field.dispatchEvent(new Event("input", {bubbles: true}));
		return true;
	})()`, name, text, text))
}

// actOnASchedule performs all actions of a schedule's buttons.
func actOnASchedule(t *testing.T, lang string) {
	tab, client := planning(t, lang, schedule.Schedule{Name: "hourly", Cron: "0 * * * *", Job: fairlead.Job{Kind: "noop"}})
	stored := func() schedule.Schedule {
		t.Helper()
		s, err := client.Get(t.Context(), "hourly")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	path := fmt.Sprint("/schedules/", stored().ID)
	button := func(name string) string { return fmt.Sprintf(`#schedule-actions a[href^="%s/%s"]`, path, name) }
	tab.visit(path)
	tab.press(button("disable"))
	tab.enters("reason", "holidays")
	tab.confirm()
	if s := stored(); !s.Disabled || s.Reason != "holidays" {
		t.Errorf("it is %+v", s)
	}
	tab.press(button("enable"))
	tab.confirm()
	if stored().Disabled {
		t.Error("it is still disabled")
	}
	tab.press(button("trigger"))
	tab.confirm()
	tab.press(button("backfill"))
	tab.enters("from", "2026-01-01T00:30")
	tab.enters("to", "2026-01-01T05:00")
	tab.await(`document.querySelector("#dialog [name=counted]").value === "4"`)
	tab.confirm()
	if fires, err := client.Fires(t.Context(), schedule.FireFilter{Schedule: stored().ID, Limit: 10}); err != nil || len(fires) != 5 {
		t.Errorf("the runs are %v, %v", fires, err)
	}
	tab.quiet("actions")
	tab.press(button("delete"))
	tab.confirm()
	tab.await(`location.pathname === "/schedules"`)
}

// testARequest sends the request of a schedule once.
func testARequest(t *testing.T, lang string) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"tea":"ready"}`))
	}))
	t.Cleanup(target.Close)
	args := []byte(`{"url":"` + target.URL + `/tea","headers":{"Authorization":"sesame"},"body":{"cups":2}}`)
	tab, client := planning(t, lang, schedule.Schedule{Name: "tea", Daily: "16:00", Job: fairlead.Job{Kind: "http", Args: args}})
	s, err := client.Get(t.Context(), "tea")
	if err != nil {
		t.Fatal(err)
	}
	tab.visit(fmt.Sprint("/schedules/", s.ID))
	tab.press(`#schedule-actions a[href*="/test?"]`)
	tab.shows(`document.querySelector("#dialog #tested.done") !== null && document.getElementById("test-response").innerText.includes("ready")`)
	if value[bool](tab, `document.getElementById("dialog").innerText.includes("sesame")`) {
		t.Error("the password is shown")
	}
	tab.shot("tested-" + lang)
	tab.accessible("tested")
	tab.fits("tested")
	tab.visit(fmt.Sprintf("/schedules/%d/edit", s.ID))
	tab.follow("#send-test")
	tab.await(`document.querySelector("#tested-call #tested.done") !== null && document.getElementById("test-response").innerText.includes("ready")`)
	tab.inView("#tested-call")
	tab.shot("tested-before-" + lang)
	tab.accessible("tested before saving")
	tab.fits("tested before saving")
	tab.quiet("tested")
}

// editASchedule creates a schedule, checks the preview shown while typing, and edits the
// schedule.
func editASchedule(t *testing.T, lang string) {
	tab, client := planning(t, lang)
	tab.visit("/schedules")
	tab.follow(`main a[href^="/new/schedule"]`)
	tab.enters("way", "cron")
	tab.enters("cron", "30 2 * * *")
	tab.enters("timezone", "Europe/Paris")
	tab.await(`document.getElementById("fires-preview").innerText.includes("02:30:00 CE")`)
	tab.enters("cron", "30 2 * *")
	tab.await(`document.getElementById("fires-preview").innerText.includes("cron: ")`)
	tab.enters("cron", "15 2 * * *")
	tab.await(`document.getElementById("fires-preview").innerText.includes("02:15:00 CE")`)
	tab.follow("#do") // the name is missing
	tab.await(`document.getElementById("problem") !== null && document.querySelector("[name=cron]").value === "15 2 * * *"`)
	tab.complaints = nil // the browser reports that the form was rejected
	tab.enters("name", "nightly")
	tab.enters("call_url", "https://api.example.org/")
	tab.shot("schedule-form-" + lang)
	tab.accessible("schedule-form")
	tab.fits("schedule-form")
	tab.save()
	tab.follow(`main a[href*="/edit?"]`)
	tab.enters("description", "of mails")
	tab.follow("#what-if")
	tab.inView("#foreseen")
	tab.save()
	if s, err := client.Get(t.Context(), "nightly"); err != nil || s.Description != "of mails" || s.Zone != "Europe/Paris" || s.Job.Kind != "http" {
		t.Errorf("stored is %+v, %v", s, err)
	}
	tab.quiet("editing")
}

// inView fails unless the beginning of an element is within the window.
func (t *tab) inView(selector string) {
	t.Helper()
	top := value[float64](t, `document.querySelector("`+selector+`").getBoundingClientRect().top`)
	if height := value[float64](t, `innerHeight`); top < 0 || top > height/2 {
		t.Errorf("%s begins at %v in a window of %v pixels", selector, top, height)
	}
}

// follow clicks a link to another page and waits for the page.
func (t *tab) follow(selector string) {
	t.Helper()
	value[bool](t, `window.before = true`)
	t.do(chromedp.Click(chromedp.CSS(selector)))
	t.await(`window.before === undefined && document.readyState === "complete"`)
}

// shot saves a screenshot of the page, if requested.
func (t *tab) shot(name string) {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture := send(t, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)}).Data
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// editACalendar creates, edits and deletes a calendar.
func editACalendar(t *testing.T, lang string) {
	tab, client := planning(t, lang)
	tab.visit("/calendars")
	tab.follow(`main a[href^="/new/calendar"]`)
	tab.enters("name", "feast")
	tab.enters("dates", "12-25")
	tab.await(`document.querySelectorAll("#calendar-effect [data-excluded]").length === 1`)
	tab.enters("weekday_sunday", "true")
	tab.await(`document.querySelectorAll("#calendar-effect [data-excluded]").length > 50`)
	tab.save()
	tab.await(`location.pathname === "/calendars/feast"`)
	tab.follow(`#calendar-actions a[href*="/edit?"]`)
	tab.enters("description", "of banks")
	tab.save()
	if calendars, err := client.Calendars(t.Context()); err != nil || len(calendars) != 1 || calendars[0].Description != "of banks" || len(calendars[0].Weekdays) != 1 {
		t.Errorf("stored are %+v, %v", calendars, err)
	}
	tab.press(`#calendar-actions a[href*="/delete?"]`)
	tab.confirm()
	tab.await(`location.pathname === "/calendars"`)
	tab.quiet("calendar")
}
