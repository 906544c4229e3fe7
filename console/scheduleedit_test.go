package console

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead/schedule"
)

var (
	inputPattern  = regexp.MustCompile(`<input [^>]*name="([^"]*)"[^>]*>`)
	valuePattern  = regexp.MustCompile(` value="([^"]*)"`)
	areaPattern   = regexp.MustCompile(`(?s)<textarea name="([^"]*)"[^>]*>(.*?)</textarea>`)
	selectPattern = regexp.MustCompile(`(?s)<select name="([^"]*)">(.*?)</select>`)
	chosenPattern = regexp.MustCompile(`<option value="([^"]*)" selected>`)
)

// filled returns the fields of a form as a browser would send them.
func filled(page string) url.Values {
	page = page[strings.Index(page, `<form class="act"`):]
	page = page[:strings.Index(page, "</form>")]
	form := url.Values{}
	for _, input := range inputPattern.FindAllStringSubmatch(page, -1) {
		box := strings.Contains(input[0], `type="radio"`) || strings.Contains(input[0], `type="checkbox"`)
		if value := valuePattern.FindStringSubmatch(input[0]); value != nil && (!box || strings.Contains(input[0], " checked")) {
			form.Set(input[1], html.UnescapeString(value[1]))
		}
	}
	for _, area := range areaPattern.FindAllStringSubmatch(page, -1) {
		form.Set(area[1], html.UnescapeString(area[2]))
	}
	for _, choice := range selectPattern.FindAllStringSubmatch(page, -1) {
		form.Set(choice[1], "")
		if chosen := chosenPattern.FindStringSubmatch(choice[2]); chosen != nil {
			form.Set(choice[1], html.UnescapeString(chosen[1]))
		}
	}
	return form
}

// stored returns a schedule from the store.
func (p *planner) stored(name string) schedule.Schedule {
	p.Helper()
	s, err := schedule.NewClient(p.store).Get(p.Context(), name)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

func TestANewScheduleIsWhatTheFormSays(t *testing.T) {
	r := newPlanner(t, false)
	r.shows(r.page(200, "/schedules"), `href="/new/schedule?next=`)
	form := filled(r.page(200, "/new/schedule", "zone", "Europe%2FParis"))
	for name, value := range map[string]string{
		"name": "mail", "way": "cron", "cron": "30 2 * * *", "timezone": "Europe/Paris", "jitter": "5m", "overlap_action": "skip", "max_concurrency": "2",
		"call_method": "PUT", "call_url": "https://api.example.org/x", "call_headers": "Accept: text/plain\r\nX-One:  1 ", "call_body": `{"n": 1}`,
		"tenant": "acme", "timeout": "90s", "retry_base": "2s", "alert_url": "https://hooks.example.org/a",
	} {
		form.Set(name, value)
	}
	_, to := r.sends(303, "/new/schedule", form)
	s := r.stored("mail")
	if to != "/schedules/"+text(s.ID) {
		t.Errorf("it leads to %s", to)
	}
	if s.Cron != "0 30 2 * * *" && s.Cron != "30 2 * * *" || s.Daily != "" || s.Zone != "Europe/Paris" || s.Overlap != "skip" || s.MaxConcurrency != 2 || s.Job.Tenant != "acme" || s.Job.Kind != "http" || s.Disabled {
		t.Errorf("stored is %+v", s)
	}
	if want := `{"body":{"n":1},"headers":{"Accept":"text/plain","X-One":"1"},"method":"PUT","url":"https://api.example.org/x"}`; string(s.Job.Args) != want {
		t.Errorf("the args are %s", s.Job.Args)
	}
	if s.Alert == nil || s.Alert.URL != "https://hooks.example.org/a" || len(s.Alert.On) != 2 {
		t.Errorf("the alert is %+v", s.Alert)
	}
}

func TestAFormThatIsSentAsItIsChangesNothing(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"full","every":"5400s","timezone":"Asia/Tokyo","starts_at":"2099-03-27T00:00:00.123456Z","job":{"kind":"http","queue":"slow","tenant":"acme","key":"k","on_duplicate":"keep",
		"args":{"url":"https://ann:sesame@api.example.org/x","success":{"status":["204"]},"body":"plain\ntext","headers":{"A":"b"}},"retry":{"base":"2s","factor":1,"precise":true}},
		"alert":{"url":"https://hooks.example.org/secret","headers":{"X":"y"},"on":["missed"]},"catch_up_mode":"full","enabled":false,"reason":"later"}`)
	before := r.stored("full")
	page := r.page(200, "/schedules/"+id+"/edit", "zone", "Europe%2FParis")
	r.shows(page, "https://***@api.example.org/x", "https://hooks.example.org/…", "1h30m")
	r.hides(page, "sesame", "hooks.example.org/secret")
	r.sends(303, "/schedules/"+id+"/edit", filled(page))
	after := r.stored("full")
	before.Version, before.UpdatedAt = after.Version, after.UpdatedAt
	if changed := cmp.Diff(before, after); changed != "" {
		t.Error(changed)
	}
}

func TestTheSecondOfTwoEditorsIsToldWhatChanged(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"shared","daily":"03:00","job":{"kind":"noop"}}`)
	path := "/schedules/" + id + "/edit"
	form := filled(r.page(200, path))
	r.asks("PATCH", "/api/v1/schedules/shared", `{"daily":"04:00","description":"by another"}`)
	form.Set("description", "mine")
	page, _ := r.sends(409, path, form)
	r.shows(page, `id="problem"`, "Changed by someone else. The current value is by another.", "Changed by someone else. The current value is 04:00.", `value="mine"`)
	r.sends(303, path, filled(page))
	if s := r.stored("shared"); s.Description != "mine" || s.Daily != "04:00" {
		t.Errorf("stored is %+v", s)
	}
}

func TestWhatIsNotShownStaysOrIsRefused(t *testing.T) {
	r := newPlanner(t, false)
	if err := r.jobs.SetConfidential(t.Context(), "http", []string{"args.headers.X-Key"}); err != nil {
		t.Fatal(err)
	}
	id := r.schedule(`{"name":"call","daily":"03:00","job":{"kind":"http","args":{"url":"https://ann:sesame@api.example.org/x","headers":{"X-Key":"hush"}}}}`)
	path := "/schedules/" + id + "/edit"
	form := filled(r.page(200, path))
	if form.Get("call_headers") != "X-Key: ***" {
		t.Errorf("the headers are %q", form.Get("call_headers"))
	}
	form.Set("call_url", "https://***@api.example.org/other")
	form.Set("call_headers", "X-Key: ***\nA: b")
	r.sends(303, path, form)
	if want := `{"headers":{"A":"b","X-Key":"hush"},"url":"https://ann:sesame@api.example.org/other"}`; string(r.stored("call").Job.Args) != want {
		t.Errorf("the args are %s", r.stored("call").Job.Args)
	}
	form = filled(r.page(200, path))
	form.Set("call_url", "https://***@evil.example.org/")
	r.shows(first(r.sends(400, path, form)), "call_url: contains *** instead", "https://***@evil.example.org/")
	form = filled(r.page(200, path))
	form.Set("work", "kind")
	form.Set("args", `{"url":"https://***@evil.example.org/"}`)
	r.shows(first(r.sends(400, path, form)), "args: contain *** instead")
	fresh := filled(r.page(200, "/new/schedule"))
	fresh.Set("name", "other")
	fresh.Set("call_url", "https://api.example.org/")
	fresh.Set("call_headers", "X-Key: ***")
	r.shows(first(r.sends(400, "/new/schedule", fresh)), "job.args", "enter the value")
}

func TestTheNextFiresAreShownWhileOneTypes(t *testing.T) {
	r := newPlanner(t, false)
	form := filled(r.page(200, "/new/schedule"))
	form.Set("way", "cron")
	form.Set("cron", "30 2 * * *")
	form.Set("timezone", "Europe/Paris")
	form.Set("starts_at", "2099-03-28T12:00")
	form.Set("call_headers", "half typed")
	page, _ := r.sends(200, "/new/schedule/fires", form)
	r.shows(page, "at 02:30 every day (Europe/Paris)", "Sun 2099-03-29 03:00:00 CEST", "clocks go forward by 1h at 02:00 on this day")
	if fires := strings.Count(page, "<tr><td>"); fires != firesPreviewed {
		t.Errorf("%d fires are shown", fires)
	}
	form.Set("cron", "30 2 * *")
	r.shows(first(r.sends(200, "/new/schedule/fires", form)), "cron: ")
	form.Set("name", "x")
	r.shows(first(r.sends(400, "/new/schedule", form)), `id="problem"`, "30 2 * *", "half typed")
}
