package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// secretHeaders contains headers, the first of which is secret because of its name.
const secretHeaders = `{"Authorization":"Bearer ` + canary + `","X-Token":"${env:TOKEN}","Accept":"text/plain"}`

func TestHeadersThatAreSecretsByTheirNamesAreShownMasked(t *testing.T) {
	w := newEraseWorld(t)
	call := `{"kind":"http","args":{"url":"https://api.example.org/","headers":` + secretHeaders + `}}`
	made, _ := w.send(200, "POST", "/api/v1/jobs", `{"jobs":[`+call+`]}`, w.admin...)
	job := fmt.Sprintf("/api/v1/jobs/%v", made["ids"].([]any)[0])
	w.send(200, "POST", schedules, `{"name":"call","cron":"@daily","alert":{"url":"https://alarm.example.org/","headers":`+secretHeaders+`},"job":`+call+`}`, w.admin...)
	w.send(200, "PUT", alerts+"/call", `{"scope":"kind:mail","url":"https://alarm.example.org/","headers":`+secretHeaders+`}`, w.admin...)
	w.send(200, "POST", "/api/v1/sweeps", `{"name":"call","kind":"http","to":9,"args":{"url":"https://api.example.org/","headers":`+secretHeaders+`}}`, w.admin...)
	for _, path := range []string{job, "/api/v1/jobs", schedules + "/call", "/api/v1/tasks/call", alerts, "/api/v1/sweeps/call"} {
		answer, _ := w.send(200, "GET", path, "", w.admin...)
		if text := fmt.Sprint(answer); strings.Contains(text, canary) || !strings.Contains(text, "***") || !strings.Contains(text, "${env:TOKEN}") || !strings.Contains(text, "text/plain") {
			t.Errorf("%s answers %s", path, text)
		}
	}
	revealed, _ := w.send(200, "GET", job+"?reveal=true", "", w.admin...)
	if !strings.Contains(fmt.Sprint(revealed), canary) {
		t.Errorf("revealed is %v", revealed)
	}
	shown := strings.Replace(call, "Bearer "+canary, "***", 1)
	problem, _ := w.send(400, "POST", "/api/v1/jobs", `{"jobs":[`+shown+`]}`, w.admin...)
	if !strings.Contains(refusals(problem)["jobs[0].args"], "enter the value") {
		t.Errorf("a masked header of a new job is answered with %v", problem)
	}
	w.send(200, "PUT", schedules+"/call", `{"cron":"@hourly","job":`+shown+`}`, w.admin...)
	w.wantElsewhere("PUT", schedules+"/call", `{"cron":"@hourly","job":`+strings.Replace(shown, "api.example.org", "evil.example.org", 1)+`}`, "job.args.url", w.admin)
	w.wantElsewhere("PATCH", "/api/v1/tasks/call", `{"target_url":"https://evil.example.org/"}`, "target_url", w.admin)
}

func TestAnAlertCanBeSentBackAsItWasShown(t *testing.T) {
	w := newEraseWorld(t)
	w.send(200, "PUT", alerts+"/call", `{"scope":"kind:mail","url":"https://alarm.example.org/","headers":`+secretHeaders+`}`, w.admin...)
	shown := `"headers":{"Authorization":"***"}}`
	w.send(200, "PUT", alerts+"/call", `{"scope":"kind:mail","url":"https://alarm.example.org/other",`+shown, w.admin...)
	rules, err := w.store.Alerts(t.Context())
	if err != nil || len(rules) != 1 || rules[0].Headers["Authorization"] != "Bearer "+canary || rules[0].URL != "https://alarm.example.org/other" {
		t.Errorf("stored are %v: %v", rules, err)
	}
	w.wantElsewhere("PUT", alerts+"/call", `{"scope":"kind:mail","url":"https://evil.example.org/",`+shown, "url", w.admin)
	problem, _ := w.send(400, "PUT", alerts+"/new", `{"scope":"kind:mail","url":"https://alarm.example.org/",`+shown, w.admin...)
	if !strings.Contains(refusals(problem)["headers"], "enter the value") {
		t.Errorf("a masked header of a new alert is answered with %v", problem)
	}
}
