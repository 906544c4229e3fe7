package server_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

const schedules = "/api/v1/schedules"

// items returns the entries of a list.
func items(t testing.TB, answer map[string]any) (all []map[string]any) {
	t.Helper()
	list, ok := answer["items"].([]any)
	if !ok {
		t.Fatalf("%v is no list", answer)
	}
	for _, item := range list {
		all = append(all, item.(map[string]any))
	}
	return all
}

func wantFields(t testing.TB, got, want map[string]any) {
	t.Helper()
	for field, value := range want {
		if got[field] != value {
			t.Errorf("%s is %v, want %v", field, got[field], value)
		}
	}
}

func TestASchedulesFieldsComeBackWithTheirDefaults(t *testing.T) {
	a := newAPI(t)
	made, header := a.send(200, "POST", schedules, `{"name":"nightly","cron":"0 3 * * *","timezone":"Europe/Paris","job":{"kind":"report","args":{"n":1}}}`)
	wantFields(t, made, map[string]any{
		"name": "nightly", "cron": "0 0 3 * * *", "timezone": "Europe/Paris", "overlap_action": "allow", "failure_action": "run_new",
		"max_concurrency": 0.0, "concurrency_policy": "queue", "queue_depth": 100.0, "catch_up_mode": "none", "catch_up_limit": 100.0,
		"catch_up_window": "86400s", "enabled": true,
	})
	for _, field := range []string{"id", "version", "next_due", "next_fire", "created_at", "updated_at"} {
		if text, _ := made[field].(string); text == "" {
			t.Errorf("%s is %v", field, made[field])
		}
	}
	if header.Get("ETag") != `"`+made["version"].(string)+`"` {
		t.Errorf("its ETag is %s", header.Get("ETag"))
	}
	for _, ref := range []string{"nightly", made["id"].(string)} {
		got, _ := a.send(200, "GET", schedules+"/"+ref, "")
		if got["id"] != made["id"] || got["job"].(map[string]any)["kind"] != "report" {
			t.Errorf("%s is %v", ref, got)
		}
	}
	a.send(409, "POST", schedules, `{"name":"nightly","cron":"@daily","job":{"kind":"report"}}`)
	a.send(404, "GET", schedules+"/weekly", "")
	a.send(200, "DELETE", schedules+"/nightly", "")
	a.send(404, "DELETE", schedules+"/nightly", "")
}

func TestWhatIsWrongWithAScheduleIsNamed(t *testing.T) {
	a := newAPI(t)
	for body, field := range map[string]string{
		`{"name":"s","job":{"kind":"k"}}`:                                                     "cron",
		`{"name":"s","cron":"* * *","job":{"kind":"k"}}`:                                      "cron",
		`{"name":"s","every":"1h","cron":"@daily","job":{"kind":"k"}}`:                        "cron",
		`{"name":"s","every":"1ms","job":{"kind":"k"}}`:                                       "every",
		`{"name":"s","daily":"25:00","job":{"kind":"k"}}`:                                     "daily",
		`{"name":"s","cron":"@daily","timezone":"Mars/Base","job":{"kind":"k"}}`:              "timezone",
		`{"name":"s","cron":"@daily","overlap_action":"perhaps","job":{"kind":"k"}}`:          "overlap_action",
		`{"name":"s","cron":"@daily","calendar":"nobody's","job":{"kind":"k"}}`:               "calendar",
		`{"name":"s","cron":"@daily","misfire_policy":"x","job":{"kind":"k"}}`:                "misfire_policy",
		`{"name":"s","cron":"@daily"}`:                                                        "job.kind",
		`{"name":"s","cron":"@daily","job":{"kind":"k","not_before":"2030-01-01T00:00:00Z"}}`: "job.not_before",
		`{"cron":"@daily","job":{"kind":"k"}}`:                                                "name",
		`{"name":"s","cron":"@daily","job":{"kind":"k"},"version":3}`:                         "version",
		`{"name":"s","cron":"@daily","job":{"kind":"k"},"ref":"t"}`:                           "ref",
	} {
		answer, _ := a.send(400, "POST", schedules, body)
		found := false
		for _, e := range answer["errors"].([]any) {
			found = found || e.(map[string]any)["field"] == field
		}
		if !found {
			t.Errorf("%s: %v do not name %s", body, answer["errors"], field)
		}
	}
}

func TestAScheduleIsReplacedByVersion(t *testing.T) {
	a := newAPI(t)
	made, header := a.send(200, "POST", schedules, `{"name":"s","every":"1h","description":"old","enabled":false,"reason":"later","job":{"kind":"k"}}`)
	wantFields(t, made, map[string]any{"enabled": false, "reason": "later"})
	if made["next_due"] != nil {
		t.Errorf("one that is disabled is due at %v", made["next_due"])
	}
	tag := header.Get("ETag")
	// What was read can be written back, under the name as well.
	same, _ := a.send(200, "PUT", schedules+"/s", jsonOf(t, made), "If-Match", tag)
	wantFields(t, same, map[string]any{"every": "3600s", "description": "old", "enabled": false, "reason": "later"})
	a.send(412, "PUT", schedules+"/s", `{"every":"2h","job":{"kind":"k"}}`, "If-Match", tag)
	a.send(409, "PUT", schedules+"/s", `{"every":"2h","job":{"kind":"k"},"version":`+made["version"].(string)+`}`)
	put, _ := a.send(200, "PUT", schedules+"/s", `{"every":"2h","job":{"kind":"k"}}`)
	wantFields(t, put, map[string]any{"id": made["id"], "name": "s", "every": "7200s", "description": nil, "enabled": true, "reason": nil})
	renamed, _ := a.send(200, "PUT", schedules+"/"+made["id"].(string), `{"name":"other","every":"2h","job":{"kind":"k"}}`)
	wantFields(t, renamed, map[string]any{"id": made["id"], "name": "other"})
	a.send(404, "PUT", schedules+"/s", `{"every":"2h","job":{"kind":"k"}}`)
}

func TestAPatchChangesOnlyWhatItNames(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", schedules, `{"name":"s","cron":"0 3 * * *","timezone":"Europe/Paris","description":"old","max_concurrency":3,"ends_at":"2100-01-01T00:00:00Z","job":{"kind":"k","queue":"mail"}}`)
	patched, header := a.send(200, "PATCH", schedules+"/s", `{"description":"new"}`)
	wantFields(t, patched, map[string]any{"description": "new", "cron": "0 0 3 * * *", "timezone": "Europe/Paris", "max_concurrency": 3.0, "enabled": true})
	if patched["job"].(map[string]any)["queue"] != "mail" {
		t.Errorf("its job is %v", patched["job"])
	}
	patched, _ = a.send(200, "PATCH", schedules+"/s", `{"every":"5m","max_concurrency":0,"ends_at":null,"enabled":false,"reason":"holidays"}`)
	wantFields(t, patched, map[string]any{"every": "300s", "cron": nil, "max_concurrency": 0.0, "ends_at": nil, "enabled": false, "reason": "holidays", "description": "new"})
	patched, _ = a.send(200, "PATCH", schedules+"/s", `{"enabled":true}`)
	wantFields(t, patched, map[string]any{"enabled": true, "reason": nil})
	a.send(412, "PATCH", schedules+"/s", `{"description":"late"}`, "If-Match", header.Get("ETag"))
	a.send(400, "PATCH", schedules+"/s", `{"clear":["nothing"]}`)
	a.send(400, "PATCH", schedules+"/s", `{"every":null}`)
	a.send(400, "PATCH", schedules+"/s", `{"job":{"queue":"web"}}`)
	a.send(404, "PATCH", schedules+"/t", `{"description":"x"}`)
}

func TestSchedulesAreListedPageByPage(t *testing.T) {
	a := newAPI(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		a.send(200, "POST", schedules, `{"name":"`+name+`","cron":"@daily","enabled":`+map[bool]string{true: "true", false: "false"}[name != "c"]+`,"job":{"kind":"k"}}`)
	}
	seen, token := "", ""
	for pages := 0; pages == 0 || token != ""; pages++ {
		page, _ := a.send(200, "GET", schedules+"?page_size=2&page_token="+token, "")
		for _, item := range items(t, page) {
			seen += item["name"].(string)
		}
		token, _ = page["next_page_token"].(string)
	}
	if seen != "abcde" {
		t.Errorf("listed were %s", seen)
	}
	page, _ := a.send(200, "GET", schedules+"?enabled=false", "")
	if all := items(t, page); len(all) != 1 || all[0]["name"] != "c" {
		t.Errorf("disabled are %v", all)
	}
}

func TestAScheduleIsSwitchedTriggeredAndFilledIn(t *testing.T) {
	a := newAPI(t)
	made, _ := a.send(200, "POST", schedules, `{"name":"s","cron":"0 * * * *","job":{"kind":"k","args":1}}`)
	off, _ := a.send(200, "POST", schedules+"/s/disable", `{"reason":"broken"}`)
	wantFields(t, off, map[string]any{"enabled": false, "reason": "broken", "next_due": nil})
	run, _ := a.send(200, "POST", schedules+"/s/trigger", `{"args":{"by":"hand"}}`)
	wantFields(t, run, map[string]any{"schedule_id": made["id"], "trigger": "manual", "state": "ready"})
	job, _ := a.send(200, "GET", "/api/v1/jobs/"+run["id"].(string), "")
	wantFields(t, job, map[string]any{"schedule_id": made["id"], "due": run["due"]})
	if job["args"].(map[string]any)["by"] != "hand" {
		t.Errorf("its args are %v", job["args"])
	}
	on, _ := a.send(200, "POST", schedules+"/s/enable", "")
	wantFields(t, on, map[string]any{"enabled": true, "reason": nil})
	filled, _ := a.send(200, "POST", schedules+"/s/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T03:00:00Z","serial":true}`)
	if all := items(t, filled); len(all) != 3 || all[0]["due"] != "2026-01-01T00:00:00.000000Z" || all[0]["trigger"] != "backfill" {
		t.Errorf("filled in were %v", all)
	}
	const span = `"from":"2026-01-01T00:00:00Z","to":"2026-01-01T03:00:00Z"`
	refilled, _ := a.send(200, "POST", schedules+"/s/backfill", "{"+span+"}")
	if all := items(t, refilled); len(all) != 0 || refilled["passed_over"] != 3.0 {
		t.Errorf("filled in again were %v", refilled)
	}
	counted, _ := a.send(200, "GET", schedules+"/s/backfill/preview?from=2026-01-01T00:00:00Z&to=2026-01-01T03:00:00Z&again=true", "")
	wantFields(t, counted, map[string]any{"runs": 3.0, "passed_over": nil})
	a.send(400, "POST", schedules+"/s/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2100-01-01T03:00:00Z"}`)
	a.send(400, "POST", schedules+"/s/backfill", `{"from":"2026-01-01T00:00:00Z"}`)

	first, _ := a.send(200, "GET", schedules+"/s/runs?page_size=3", "")
	rest, _ := a.send(200, "GET", schedules+"/s/runs?page_size=3&page_token="+first["next_page_token"].(string), "")
	if len(items(t, first)) != 3 || len(items(t, rest)) != 1 || rest["next_page_token"] != nil || items(t, rest)[0]["id"] != run["id"] {
		t.Errorf("its runs are %v and %v", first, rest)
	}
	a.enqueue(`{"kind":"k"}`)
	jobs, _ := a.send(200, "GET", "/api/v1/jobs?schedule="+made["id"].(string)+"&state=ready", "")
	for _, job := range items(t, jobs) {
		wantFields(t, job, map[string]any{"schedule_id": made["id"], "state": "ready"})
	}
	if len(items(t, jobs)) == 0 {
		t.Error("no job of the schedule is listed")
	}
	all, _ := a.send(200, "GET", "/api/v1/jobs?schedule="+made["id"].(string), "")
	if len(items(t, all)) != 4 {
		t.Errorf("%d jobs of the schedule are listed, want 4", len(items(t, all)))
	}
}

func TestClocksThatChangeAreRemarkedUpon(t *testing.T) {
	a := newAPI(t)
	for _, c := range []struct{ body, local, remark string }{
		{`{"daily":"04:00","timezone":"Europe/Paris","starts_at":"2100-03-28T00:00:00Z","n":1}`, "Sun 2100-03-28 04:00:00 CEST", "clocks go forward by 1h at 02:00 on this day"},
		{`{"daily":"01:00","timezone":"Europe/Paris","starts_at":"2100-10-30T23:30:00Z","n":1}`, "Mon 2100-11-01 01:00:00 CET", ""},
		{`{"daily":"12:00","timezone":"Europe/Paris","starts_at":"2100-10-31T00:00:00Z","n":1}`, "Sun 2100-10-31 12:00:00 CET", "clocks go back by 1h at 03:00 on this day"},
		{`{"daily":"12:00","starts_at":"2100-10-31T00:00:00Z","n":1}`, "Sun 2100-10-31 12:00:00 UTC", ""},
	} {
		answer, _ := a.send(200, "POST", schedules+"/preview", c.body)
		got := items(t, answer)
		remark, _ := got[0]["remark"].(string)
		if len(got) != 1 || got[0]["local"] != c.local || remark != c.remark {
			t.Errorf("%s: %v, want %s, %q", c.body, got, c.local, c.remark)
		}
	}
	ten, _ := a.send(200, "POST", schedules+"/preview", `{"cron":"@hourly"}`)
	if len(items(t, ten)) != 10 {
		t.Errorf("%d instants are shown, want 10", len(items(t, ten)))
	}
	a.send(400, "POST", schedules+"/preview", `{"cron":"61 * * * *"}`)
	a.send(400, "POST", schedules+"/preview", `{"cron":"@hourly","n":1001}`)
	a.send(200, "POST", schedules, `{"name":"s","cron":"@hourly","jitter":"10m","enabled":false,"job":{"kind":"k"}}`)
	stored, _ := a.send(200, "GET", schedules+"/s/preview?n=3", "")
	all := items(t, stored)
	if len(all) != 3 || all[0]["fire"] == all[0]["due"] {
		t.Errorf("stored, it is previewed as %v", all)
	}
}

func TestHowRunsWentIsSummedUp(t *testing.T) {
	a := newAPI(t)
	a.send(200, "POST", schedules, `{"name":"s","cron":"@hourly","job":{"kind":"k","max_attempts":1}}`)
	none, _ := a.send(200, "GET", schedules+"/s/stats", "")
	if len(none) != 0 {
		t.Errorf("one that never ran has %v", none)
	}
	for range 4 {
		a.send(200, "POST", schedules+"/s/trigger", "")
	}
	ctx := t.Context()
	node, err := a.store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"k"}}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := a.store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"k"}}, Max: 3})
	if err != nil || len(claimed) != 3 {
		t.Fatalf("%d are claimed: %v", len(claimed), err)
	}
	for i, move := range []fairlead.Move{fairlead.Succeed, fairlead.Succeed, fairlead.Fail} {
		if _, err := a.store.Settle(ctx, []fairlead.Settlement{{ID: claimed[i].ID, Fence: claimed[i].Fence, Move: move}}); err != nil {
			t.Fatal(err)
		}
	}
	if ended, _ := a.send(200, "GET", "/api/v1/jobs/"+strconv.FormatInt(claimed[0].ID, 10), ""); ended["schedule_id"] == nil || ended["due"] == nil {
		t.Errorf("a run that has ended is %v", ended)
	}
	stats, _ := a.send(200, "GET", schedules+"/s/stats", "")
	wantFields(t, stats, map[string]any{"runs": 4.0, "active": 1.0, "succeeded": 2.0, "failed": 1.0})
	if rate := stats["success_rate"].(float64); rate < 0.66 || rate > 0.67 {
		t.Errorf("the rate of success is %v", rate)
	}
	if text, _ := stats["duration_max"].(string); !strings.HasSuffix(text, "s") {
		t.Errorf("the longest took %v", stats["duration_max"])
	}
}

func TestAScheduleIsShownByItsCalendarAsItIsNow(t *testing.T) {
	a := newAPI(t)
	const timing = `"daily":"12:00","calendar":"feast"`
	a.send(200, "POST", "/api/v1/calendars", `{"name":"feast"}`)
	a.send(200, "POST", schedules, `{"name":"s",`+timing+`,"job":{"kind":"k"}}`)
	shown := func() (next, preview any, words string) {
		s, _ := a.send(200, "GET", schedules+"/s", "")
		if (s["next_due"] == nil) != (s["next_fire"] == nil) {
			t.Errorf("it is due %v, and fires %v", s["next_due"], s["next_fire"])
		}
		listed, _ := a.send(200, "GET", schedules, "")
		if got := items(t, listed)[0]["next_due"]; got != s["next_due"] {
			t.Errorf("it is due %v, and %v in the list", s["next_due"], got)
		}
		p, _ := a.send(200, "GET", schedules+"/s/preview?n=1", "")
		if found, _ := p["items"].([]any); len(found) > 0 {
			preview = found[0].(map[string]any)["due"]
		}
		return s["next_due"], preview, p["words"].(string)
	}
	first, _, _ := shown()
	a.send(200, "PUT", "/api/v1/calendars/feast", fmt.Sprintf(`{"dates":[%q]}`, first.(string)[:10]))
	if next, preview, _ := shown(); next == first || next != preview {
		t.Errorf("without %v it is due %v, and %v in the preview", first, next, preview)
	}
	a.send(200, "PUT", "/api/v1/calendars/feast", `{"weekdays":["monday","tuesday","wednesday","thursday","friday","saturday","sunday"]}`)
	if next, preview, words := shown(); next != nil || preview != nil || !strings.Contains(words, "never within 8 years") {
		t.Errorf("on no day it is due %v, and %v in the preview: %s", next, preview, words)
	}
	refused, _ := a.send(400, "POST", schedules, `{"name":"t",`+timing+`,"job":{"kind":"k"}}`)
	if text := jsonOf(t, refused); !strings.Contains(text, "never due within 8 years") {
		t.Errorf("refused with %s", text)
	}
	a.send(200, "PUT", "/api/v1/calendars/feast", `{}`)
	if next, preview, _ := shown(); next != first || preview != first {
		t.Errorf("freed, it is due %v, and %v in the preview, want %v", next, preview, first)
	}
}

func TestCalendarsAreKeptByVersion(t *testing.T) {
	a := newAPI(t)
	made, header := a.send(200, "POST", "/api/v1/calendars", `{"name":"feast","weekdays":["sunday"],"dates":["12-25"],"ranges":[{"from":"2100-08-01","to":"2100-08-15"}]}`)
	got, _ := a.send(200, "GET", "/api/v1/calendars/feast", "")
	if jsonOf(t, got) != jsonOf(t, made) {
		t.Errorf("made as %v, read as %v", made, got)
	}
	a.send(409, "POST", "/api/v1/calendars", `{"name":"feast"}`)
	a.send(400, "POST", "/api/v1/calendars", `{"name":"other","weekdays":["someday"]}`)
	a.send(400, "POST", "/api/v1/calendars", `{"name":"other","dates":["13-40"]}`)
	a.send(200, "PUT", "/api/v1/calendars/feast", `{"weekdays":["saturday","sunday"]}`, "If-Match", header.Get("ETag"))
	a.send(412, "PUT", "/api/v1/calendars/feast", `{}`, "If-Match", header.Get("ETag"))
	a.send(200, "POST", schedules, `{"name":"s","cron":"0 0 * * *","calendar":"feast","job":{"kind":"k"}}`)
	a.send(409, "DELETE", "/api/v1/calendars/feast", "")
	preview, _ := a.send(200, "GET", schedules+"/s/preview?n=20", "")
	for _, instant := range items(t, preview) {
		if local := instant["local"].(string); strings.HasPrefix(local, "Sat") || strings.HasPrefix(local, "Sun") {
			t.Errorf("it is due on %s", local)
		}
	}
	a.send(200, "DELETE", schedules+"/s", "")
	a.send(200, "DELETE", "/api/v1/calendars/feast", "")
	list, _ := a.send(200, "GET", "/api/v1/calendars", "")
	if len(items(t, list)) != 0 {
		t.Errorf("calendars are %v", list)
	}
}

func TestASchedulesOwnerSeesItsRuns(t *testing.T) {
	a := newGuardedAPI(t)
	operator := []string{"Authorization", "Bearer " + a.token(access.RoleOperator, "acme")}
	other := []string{"Authorization", "Bearer " + a.token(access.RoleOperator, "zeta")}
	a.send(200, "POST", schedules, `{"name":"s","cron":"@hourly","job":{"kind":"k","tenant":"acme"}}`, operator...)
	run, _ := a.send(200, "POST", schedules+"/s/trigger", "", operator...)
	job, _ := a.send(200, "GET", "/api/v1/jobs/"+run["id"].(string), "", operator...)
	wantFields(t, job, map[string]any{"schedule_id": run["schedule_id"]})
	jobs, _ := a.send(200, "GET", "/api/v1/jobs?schedule="+run["schedule_id"].(string), "", operator...)
	if len(items(t, jobs)) != 1 {
		t.Errorf("its jobs are %v", jobs)
	}
	a.send(404, "GET", "/api/v1/jobs?schedule="+run["schedule_id"].(string), "", other...)
	a.send(403, "PATCH", schedules+"/s", `{"job":{"kind":"k","tenant":"zeta"}}`, operator...)
	listed, _ := a.send(200, "GET", schedules, "", other...)
	if len(items(t, listed)) != 0 {
		t.Errorf("others see %v", listed)
	}
}

// A schedule whose first instant is counted from another moment than the rest is due
// twice within that difference.
func TestAnIntervalIsCountedFromOneMoment(t *testing.T) {
	a := newAPI(t)
	made, _ := a.send(200, "POST", "/api/v1/schedules", `{"name":"hourly","every":"3600s","job":{"kind":"noop"}}`)
	created, err := time.Parse(time.RFC3339, made["created_at"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if due := created.Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"); made["next_due"] != due {
		t.Errorf("made at %v, it is due at %v", made["created_at"], made["next_due"])
	}
}
