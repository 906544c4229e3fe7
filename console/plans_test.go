package console

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
)

func TestSchedulesAreListedWithWhenTheyAreDueAndHowTheyWent(t *testing.T) {
	r := newPlanner(t, false)
	r.shows(r.page(200, "/schedules"), "No schedules yet", `href="/new/schedule?next=`)
	good := r.schedule(`{"name":"nightly","cron":"0 3 * * *","timezone":"Europe/Paris","job":{"kind":"noop","tenant":"acme"}}`)
	bad := r.schedule(`{"name":"<b>hostile</b>","every":"3600s","job":{"kind":"broken"}}`)
	r.schedule(`{"name":"off","delay":"60s","job":{"kind":"noop"},"enabled":false,"reason":"holidays"}`)
	r.run()
	for _, id := range []string{good, bad} {
		r.asks("POST", "/api/v1/schedules/"+id+"/trigger", "{}")
	}
	r.until("the runs have ended", func() bool {
		page := r.page(200, "/schedules")
		return strings.Contains(page, "tone-good\">succeeded") && strings.Contains(page, "tone-bad\">failed")
	})
	page := r.page(200, "/schedules", "zone", "Asia%2FTokyo")
	r.shows(page, "0 0 3 * * *", "at 03:00 every day (Europe/Paris)", "every 1h", "03:00:00 Europe/Paris", "disabled", "holidays", "delay 1m", "noop · ", `href="/tenants/acme"`,
		`<rect class="tone-bad"`, `<title>failed · `, "&lt;b&gt;hostile&lt;/b&gt;", "none yet")
	r.hides(page, "<b>hostile")
	for path, want := range map[string]int{"/schedules": 3, "/schedules?tenant=acme": 1, "/schedules?enabled=true": 2, "/schedules?enabled=false": 1, "/schedules?tenant=nemo": 0} {
		if got := r.rows(path); len(got) != want {
			t.Errorf("%s has the rows %v, want %d", path, got, want)
		}
	}
	r.shows(r.page(200, "/schedules?tenant=nemo"), "No matching schedules")
	r.shows(r.page(400, "/schedules?enabled=perhaps"), "enabled: must be one of true, false")
	r.shows(r.page(400, "/schedules?at_most=-1"), "at_most: must be a number above 0")
	r.shows(r.page(400, "/schedules?tenat=acme"), "tenat: is not a parameter of this page")
}

func TestAListOfSchedulesEndsWhereItsCountStopped(t *testing.T) {
	r := newPlanner(t, false)
	for i := range 60 {
		r.schedule(fmt.Sprintf(`{"name":"s%02d","daily":"03:00","job":{"kind":"noop"}}`, i))
	}
	for path, want := range map[string]int{"/schedules": 60, "/schedules?at_most=30": 30, "/schedules?at_most=25": 25, "/schedules?at_most=10&page=s54": 5} {
		if got := r.rows(path); len(got) != want {
			t.Errorf("%s has %d rows, want %d", path, len(got), want)
		}
	}
	r.shows(r.page(200, "/schedules?at_most=10"), "This list is incomplete")
	r.hides(r.page(200, "/schedules?at_most=10&page=s54"), "This list is incomplete")
}

func TestAScheduleShowsWhatItMakesWhenAndForWhom(t *testing.T) {
	r := newPlanner(t, false)
	r.asks("POST", "/api/v1/calendars", `{"name":"feast/days","weekdays":["wednesday"]}`)
	id := r.schedule(`{"name":"night/ly","description":"of sales","cron":"30 2 * * *","timezone":"Europe/Paris","jitter":"300s","calendar":"feast/days","overlap_action":"skip","catch_up_mode":"full",
		"starts_at":"2099-03-27T00:00:00Z","job":{"kind":"noop","tenant":"acme","args":{"of":"sales"},"queue":"slow","timeout":"90s","max_attempts":4},
		"alert":{"url":"https://user:sesame1@hooks.example.org/services/sesame2?key=sesame3","on":["failure","failures","missed"],"failures":5,"headers":{"Authorization":"sesame4"},"signing_secret":"sesame5"}}`)
	page := r.page(200, "/schedules/"+id, "zone", "Asia%2FTokyo")
	r.shows(page, "night/ly", "of sales", `href="/calendars/feast%2Fdays"`, `href="/tenants/acme"`, "clocks go forward by 1h at 02:00 on this day", "Sat 2099-03-28 02:30:00 CET", "up to 5m later",
		"skip the next run", "run all, at most 100, no older than 1d", "&#34;of&#34;: &#34;sales&#34;", "1m 30s", "https://hooks.example.org/…", "a run fails", "5 consecutive runs fail", "runs were missed", "No runs yet")
	r.hides(page, "sesame")
	if fires := strings.Count(page, `<tr id="fire-`); fires != firesShown {
		t.Errorf("there are %d coming fires, want %d", fires, firesShown)
	}
	if byName := r.page(200, "/schedules/night%2Fly"); !strings.Contains(byName, `hx-sse:connect="/live/schedules/night%2Fly"`) {
		t.Errorf("the live part of a name with a slash is asked for elsewhere:\n%s", byName)
	}
	r.page(404, "/schedules/nothing")
	r.shows(r.page(400, "/schedules/"+id+"?page=nonsense"), "page: is not a valid page token")
	r.shows(r.page(400, "/schedules/"+id+"?pgae=1"), "pgae: is not a parameter of this page")
}

func TestRunsOfAScheduleHaveTheirReasonAndDuration(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"busy","every":"3600s","max_concurrency":1,"concurrency_policy":"skip","job":{"kind":"noop"}}`)
	first := r.asks("POST", "/api/v1/schedules/busy/trigger", "{}")["id"].(string)
	r.asks("POST", "/api/v1/schedules/busy/trigger", "{}") // the first one is still active: no node runs
	r.shows(r.page(200, "/schedules/"+id), "too many runs were active", "manual", "tone-off\">skipped")
	r.run()
	r.until("the first run has ended", func() bool { return strings.Contains(r.page(200, "/schedules/"+id), "tone-good\">succeeded") })
	page := r.page(200, "/schedules/"+id)
	r.shows(page, `href="/jobs/`+first+`"`, `id="run-`+first+`"`)
	row := page[strings.Index(page, `id="run-`+first+`"`):]
	if row = row[:strings.Index(row, "</tr>")]; !regexp.MustCompile(`<td class="number">(&lt;)?[0-9].*s</td>$`).MatchString(row) {
		t.Errorf("the run has no duration: %s", row)
	}
	if got := r.rows("/schedules/" + id); len(got) != 2 {
		t.Errorf("the runs are %v", got)
	}
}

func TestRunsAreListedPageByPage(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"often","every":"60s","job":{"kind":"noop"}}`)
	begin := time.Now().UTC().Add(-3 * time.Hour).Truncate(time.Second)
	r.asks("PATCH", "/api/v1/schedules/often", `{"starts_at":"`+begin.Format(time.RFC3339)+`"}`)
	r.asks("POST", "/api/v1/schedules/often/backfill", fmt.Sprintf(`{"from":%q,"to":%q}`, begin.Format(time.RFC3339), begin.Add(120*time.Minute).Format(time.RFC3339)))
	seen := map[string]bool{}
	for _, row := range r.rows("/schedules/" + id) {
		seen[row] = true
	}
	if len(seen) != 120 {
		t.Errorf("%d runs are listed, want 120", len(seen))
	}
}

func TestACalendarShowsAYear(t *testing.T) {
	r := newPlanner(t, false)
	r.shows(r.page(200, "/calendars"), "No calendars yet", `href="/new/calendar?next=`)
	r.asks("POST", "/api/v1/calendars", `{"name":"feast","description":"bank holidays","weekdays":["sunday"],"dates":["12-25","2027-05-01"],"ranges":[{"from":"2027-12-27","to":"2028-01-02"}]}`)
	r.shows(r.page(200, "/calendars"), `href="/calendars/feast"`, "bank holidays", "Sunday", "-12-25")
	page := r.page(200, "/calendars/feast?year=2027")
	r.shows(page, "2027-12-25\n12-25 of every year", "2027-05-01\nthis date only", "2027-12-31\n2027-12-27 to 2028-01-02", "2027-01-03\nevery Sunday", "December: excluded days are 5, 12, 19, 25, 26, 27, 28, 29, 30, 31", "year=2026", "year=2028")
	if got := strings.Count(page, "data-excluded"); got != 52+2+5 { // the ranges of 2027 have five days
		t.Errorf("%d days are left out", got)
	}
	if days := strings.Count(page, `class="day`) - 1; days != 365 {
		t.Errorf("the year has %d days", days)
	}
	r.shows(r.page(200, "/calendars/feast?year=2028", "lang", "zh"), "每星期日", "十二月", "2028-12-25\n每年 12-25")
	r.page(404, "/calendars/nothing")
	r.shows(r.page(400, "/calendars/feast?year=MMXXVI"), "year: must be a number above 0")
	r.shows(r.page(400, "/calendars/feast?year=10000"), "year: must be a year such as 2026")
	r.shows(r.page(400, "/calendars?page=gone"), "page: refers to a calendar that no longer exists")
}

func TestCalendarsAreListedPageByPage(t *testing.T) {
	r := newPlanner(t, false)
	for i := range 120 {
		r.asks("POST", "/api/v1/calendars", fmt.Sprintf(`{"name":"c%03d"}`, i))
	}
	if got := r.rows("/calendars"); len(got) != 120 || got[119] != "calendar-c119" {
		t.Errorf("%d calendars are listed", len(got))
	}
}

func TestEachNumberOfTheLoadLeadsToExactlyItsSchedules(t *testing.T) {
	r := newPlanner(t, false)
	r.shows(r.page(200, "/load"), "No enabled schedules")
	for i := range 30 {
		r.schedule(fmt.Sprintf(`{"name":"night-%02d","daily":"03:00","job":{"kind":"noop","tenant":"acme"}}`, i))
	}
	for i := range 5 {
		r.schedule(fmt.Sprintf(`{"name":"half-%02d","cron":"30 * * * *","timezone":"Europe/Paris","job":{"kind":"noop"}}`, i))
	}
	r.schedule(`{"name":"each minute","cron":"* * * * *","job":{"kind":"noop"}}`)
	r.schedule(`{"name":"off","daily":"03:00","job":{"kind":"noop"},"enabled":false}`)
	for _, path := range []string{"/load", "/load?tenant=acme"} {
		page := r.page(200, path)
		counts := r.counts(page)
		if len(counts) < 2 {
			t.Errorf("%s has the counts %v", path, counts)
		}
		for href, n := range counts {
			if got := r.rows(href); len(got) != n {
				t.Errorf("%s promises %d rows at %s, which has %d", path, n, href, len(got))
			}
		}
	}
	page := r.page(200, "/load")
	r.shows(page, "fairlead schedule update night-07 --jitter ", ">36</a>")
	r.hides(page, "update off")
	cell := regexp.MustCompile(`class="heat-6"><a href="([^"]*)" title="[^"]*: (\d+) fires"`).FindStringSubmatch(page)
	if cell == nil {
		t.Fatalf("no hour has most fires:\n%s", page)
	}
	if n, err := strconv.Atoi(cell[2]); err != nil || n != 30+5+60 {
		t.Errorf("the worst hour has %s fires", cell[2])
	}
	r.shows(r.page(200, html.UnescapeString(cell[1])), cell[2]+" fires in total.", "night-29", "half-04", "each minute")
}

func TestTheSpreadThatIsSuggestedHolds(t *testing.T) {
	r := newPlanner(t, false)
	for i := range 16 {
		r.schedule(fmt.Sprintf(`{"name":"night-%02d","daily":"03:00","job":{"kind":"noop"}}`, i))
	}
	page := r.page(200, "/load")
	promised := regexp.MustCompile(`A jitter of (\d+m) leaves at most (\d+) % of them`).FindStringSubmatch(page)
	if promised == nil {
		t.Fatalf("nothing is suggested:\n%s", page)
	}
	jitter, err := time.ParseDuration(promised[1])
	if err != nil {
		t.Fatal(err)
	}
	perMinute, most := map[string]int{}, 0
	for i := range 16 {
		name := fmt.Sprintf("night-%02d", i)
		r.shows(page, "fairlead schedule update "+name+" --jitter "+promised[1])
		s := r.asks("PATCH", "/api/v1/schedules/"+name, fmt.Sprintf(`{"jitter":"%ds"}`, int(jitter.Seconds())))
		minute := r.asks("GET", "/api/v1/schedules/"+s["id"].(string)+"/preview?n=1", "")["items"].([]any)[0].(map[string]any)["fire"].(string)[:len("2026-11-17T03:00")]
		perMinute[minute]++
		most = max(most, perMinute[minute])
	}
	if share := (100*most + 15) / 16; strconv.Itoa(share) != promised[2] {
		t.Errorf("%d %% fire in one minute, and %s %% were promised", share, promised[2])
	}
}

func TestTheLoadOfMoreSchedulesThanAreLookedAtGoesOnOnTheNextPage(t *testing.T) {
	r := newPlanner(t, false)
	for i := range loadSchedulesRead + 7 {
		r.schedule(fmt.Sprintf(`{"name":"s%04d","daily":"03:00","job":{"kind":"noop"}}`, i))
	}
	page := r.page(200, "/load")
	r.shows(page, ">500&#43;</a>", "More are on the next page")
	for href, n := range r.counts(page) {
		if got := r.rows(href); len(got) != n {
			t.Errorf("%d rows are promised at %s, which has %d", n, href, len(got))
		}
	}
	next := nextPattern.FindStringSubmatch(page)
	if next == nil {
		t.Fatal("there is no next page")
	}
	page = r.page(200, html.UnescapeString(next[1]))
	for href, n := range r.counts(page) {
		if got := r.rows(href); n != 7 || len(got) != n {
			t.Errorf("%d rows are promised at %s, which has %d", n, href, len(got))
		}
	}
}

func TestASpanOfTheLoadIsRefusedIfItIsNone(t *testing.T) {
	r := newPlanner(t, false)
	for query, want := range map[string]string{
		"from=noon&to=2026-01-01T00:00:00Z":                 "from: must be a time such as",
		"from=2026-01-01T00:00:00Z":                         "from: must be specified together with to",
		"from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "to: must be later than from",
		"from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z": "to: must be later than from",
		"hour=3": "hour: is not a parameter of this page",
	} {
		r.shows(r.page(400, "/load?"+query), want)
	}
}

func TestWhoIsBoundToATenantSeesNoSchedulesOfOthers(t *testing.T) {
	r := newPlanner(t, true)
	r.schedule(`{"name":"ours","daily":"03:00","job":{"kind":"noop","tenant":"acme"}}`)
	theirs := r.schedule(`{"name":"theirs","daily":"03:00","job":{"kind":"noop","tenant":"zeta"}}`)
	r.asks("POST", "/api/v1/calendars", `{"name":"feast"}`)
	bound := r.as("bound", access.RoleViewer, "acme")
	for _, path := range []string{"/schedules", "/schedules?tenant=acme", "/load", "/load?from=2030-01-01T03:00:00Z&to=2030-01-01T03:01:00Z"} {
		page := bound.page(200, path)
		bound.hides(page, "theirs", "zeta")
		if strings.HasPrefix(path, "/schedules") || strings.Contains(path, "from") {
			bound.shows(page, "ours")
		}
	}
	bound.page(200, "/calendars/feast")
	bound.page(404, "/schedules/"+theirs)
	bound.hides(bound.page(200, "/schedules?tenant=zeta"), "theirs")
	if got := bound.rows("/schedules"); len(got) != 1 {
		t.Errorf("the rows are %v", got)
	}
	r.shows(r.page(200, "/schedules"), "ours", "theirs")
}

func TestSchedulesAndCalendarsAreFoundByTheirNames(t *testing.T) {
	r := newPlanner(t, false)
	id := r.schedule(`{"name":"night / ly","daily":"03:00","job":{"kind":"noop"}}`)
	r.asks("POST", "/api/v1/calendars", `{"name":"a/b"}`)
	for name, want := range map[string]string{"night / ly": "/schedules/" + id, "a/b": "/calendars/a%2Fb"} {
		answer := r.ask(http.MethodGet, "/find?q="+url.QueryEscape(name), nil)
		if got := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%q leads to %d %s, want %s", name, answer.StatusCode, got, want)
		}
		r.page(http.StatusOK, want)
	}
}
