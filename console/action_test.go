package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

func TestEveryActionNamesAMethodOfTheAPI(t *testing.T) {
	for _, a := range actions {
		if rolesOf()[a.method] == "" || a.Ask != "" && rolesOf()[a.Ask] == "" {
			t.Errorf("%s: the API has no method %s or %s", a.path, a.method, a.Ask)
		}
	}
	for _, button := range jobButtons {
		leadsTo(t, "/jobs/{id}/"+button.Name, button.Method)
	}
	for _, button := range batchButtons {
		leadsTo(t, "/batches/{id}/"+button.Name, button.Method)
	}
	for _, button := range sweepButtons {
		leadsTo(t, "/sweeps/{id}/"+button.Name, button.Method)
	}
}

// leadsTo fails unless an action has the path and the method of a button.
func leadsTo(t *testing.T, path, method string) {
	t.Helper()
	if !slices.ContainsFunc(actions, func(a action) bool { return a.path == path && a.method == method }) {
		t.Errorf("the button of %s leads nowhere", path)
	}
}

// later enqueues a job that is due in an hour.
func later(r *rig) *fairlead.Job {
	job := &fairlead.Job{Kind: "noop", NotBefore: time.Now().Add(time.Hour)}
	r.enqueue(job)
	return job
}

// state returns the state of a job.
func (r *rig) state(id int64) fairlead.State {
	r.Helper()
	job, err := r.jobs.Get(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return job.State
}

func TestAnActionIsDoneAndTheNextPageSaysSo(t *testing.T) {
	r := newRig(t, false, nil)
	job := later(r)
	path := "/jobs/" + text(job.ID)
	r.shows(r.page(http.StatusOK, path), `href="`+path+`/cancel?next=`, `href="`+path+`/run?next=`)
	r.shows(r.page(http.StatusOK, path+"/cancel"), `action="`+path+`/cancel"`, "The job will be cancelled", `value="`+path+`"`)
	answer := r.ask(http.MethodPost, path+"/cancel", url.Values{"reason": {"not needed"}, "next": {path}})
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != path {
		t.Fatalf("%d, %s", answer.StatusCode, answer.Header.Get("Location"))
	}
	if state := r.state(job.ID); state != fairlead.Cancelled {
		t.Errorf("the job is %s", state)
	}
	notice := ""
	for _, cookie := range answer.Cookies() {
		if cookie.Name == noticeCookie {
			notice = cookie.Value
		}
	}
	r.shows(r.page(http.StatusOK, path, noticeCookie, notice), "Job #"+text(job.ID)+" was cancelled", "state tone-off")
	r.hides(r.page(http.StatusOK, path), "was cancelled or asked")
}

func TestAPageAfterAnActionIsNotWhatWasReadBefore(t *testing.T) {
	r := newRig(t, false, nil)
	job := later(r)
	path := "/jobs/" + text(job.ID)
	for _, step := range []struct{ act, shown string }{{"/run", ">ready<"}, {"/cancel", ">cancelled<"}, {"/retry", ">ready<"}} {
		r.ask(http.MethodPost, path+step.act, url.Values{})
		r.shows(r.page(http.StatusOK, path), step.shown)
	}
}

func TestAConflictSaysWhatChangedMeanwhile(t *testing.T) {
	r := newRig(t, false, nil)
	job := later(r)
	path := "/jobs/" + text(job.ID)
	if err := r.jobs.Cancel(t.Context(), job.ID, "by another"); err != nil {
		t.Fatal(err)
	}
	answer := r.ask(http.MethodPost, path+"/run", url.Values{"was.state": {"scheduled"}})
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusConflict {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	r.shows(string(body), `id="problem"`, "The state was scheduled when you opened this form.", ">cancelled<")
}

// TestTheSecondWhoChangesAJobIsTold opens two forms and submits one before the other.
func TestTheSecondWhoChangesAJobIsTold(t *testing.T) {
	for _, test := range []struct{ form, field, first, second string }{{"/priority", "priority", "5", "7"}, {"/move", "queue", "letters", "parcels"}} {
		t.Run(test.field, func(t *testing.T) {
			r := newRig(t, false, nil)
			path := "/jobs/" + text(later(r).ID) + test.form
			one, other := filled(r.page(http.StatusOK, path)), filled(r.page(http.StatusOK, path))
			one.Set(test.field, test.first)
			r.send(http.StatusSeeOther, path, one)
			other.Set(test.field, test.second)
			refused := r.send(http.StatusConflict, path, other)
			r.shows(refused, "This was changed after you opened the form", "Changed by someone else. The current value is "+test.first+".", `name="`+test.field+`" value="`+test.second+`"`)
			r.send(http.StatusSeeOther, path, filled(refused))
			r.shows(r.page(http.StatusOK, path), `name="`+test.field+`" value="`+test.second+`"`)
		})
	}
}

func TestWhatWasTypedStaysInAFormThatIsRefused(t *testing.T) {
	r := newRig(t, false, nil)
	path := "/jobs/" + text(later(r).ID)
	answer := r.ask(http.MethodPost, path+"/copy", url.Values{"args": {`{"half": `}, "queue": {"letters"}})
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusBadRequest {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	r.shows(string(body), "args: must be a JSON document", `{&#34;half&#34;:`, `value="letters"`)
}

func TestACopyHasWhatTheFormSays(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop", Args: []byte(`{"a":1}`), Tenant: "acme", Key: "one", MaxAttempts: 7}
	r.enqueue(job)
	answer := r.ask(http.MethodPost, "/jobs/"+text(job.ID)+"/copy", url.Values{"args": {`{"a":2}`}, "queue": {"letters"}, "priority": {"-5"}})
	to := answer.Header.Get("Location")
	id, isNumber := number(strings.TrimPrefix(to, "/jobs/"))
	if answer.StatusCode != http.StatusSeeOther || !isNumber || id == job.ID {
		t.Fatalf("%d, %s", answer.StatusCode, to)
	}
	copied, err := r.jobs.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if string(copied.Args) != `{"a":2}` || copied.Queue != "letters" || copied.Priority != -5 || copied.Tenant != "acme" || copied.Key != "" || copied.MaxAttempts != 7 {
		t.Errorf("the copy is %+v", copied)
	}
}

func TestACopyKeepsThePasswordThatIsNotShown(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "noop", Args: []byte(`{"url":"https://ann:sesame@api.example.org/x"}`)}
	r.enqueue(job)
	path := "/jobs/" + text(job.ID) + "/copy"
	form := r.page(http.StatusOK, path)
	r.shows(form, "https://***@api.example.org/x")
	r.hides(form, "sesame")
	answer := r.ask(http.MethodPost, path, url.Values{"args": {`{"url":"https://***@api.example.org/y"}`}})
	id, _ := number(strings.TrimPrefix(answer.Header.Get("Location"), "/jobs/"))
	copied, err := r.jobs.Get(t.Context(), id)
	if err != nil || string(copied.Args) != `{"url":"https://ann:sesame@api.example.org/y"}` {
		t.Errorf("the copy is %+v, %v", copied, err)
	}
	if answer := r.ask(http.MethodPost, path, url.Values{"args": {`{"url":"https://***@evil.example.org/"}`}}); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a password for another host is answered with %d", answer.StatusCode)
	}
}

func TestAViewerHasNoButtonsAndIsRefused(t *testing.T) {
	r := newRig(t, true, nil)
	job := later(r)
	path := "/jobs/" + text(job.ID)
	viewer := r.token("reader", access.RoleViewer)
	r.hides(r.page(http.StatusOK, path, sessionCookie, viewer), path+"/cancel")
	for _, button := range jobButtons {
		r.shows(r.page(http.StatusForbidden, path+"/"+button.Name, sessionCookie, viewer), "Your role (viewer)")
		if answer := r.ask(http.MethodPost, path+"/"+button.Name, url.Values{}, sessionCookie, viewer); answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s is answered with %d", button.Name, answer.StatusCode)
		}
	}
	if state := r.state(job.ID); state != fairlead.Scheduled {
		t.Errorf("the job is %s", state)
	}
}

// pathOf returns the path of an action for some object.
func (a *action) pathOf() string {
	return regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(a.path, "1")
}

func TestAViewerIsRefusedEveryAction(t *testing.T) {
	r := newRig(t, true, nil)
	viewer := r.token("reader", access.RoleViewer)
	for i := range actions {
		path := actions[i].pathOf()
		form := url.Values{"what_if": {"true"}}
		if actions[i].Ask == "" {
			r.page(http.StatusForbidden, path, sessionCookie, viewer)
		} else {
			form = url.Values{"save": {"true"}} // a viewer may ask, but not save
		}
		if answer := r.ask(http.MethodPost, path, form, sessionCookie, viewer); answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s is answered with %d", path, answer.StatusCode)
		}
	}
	entries, err := r.store.AuditLog(t.Context(), access.Filter{})
	if err != nil || len(entries) > 0 {
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestNoPageOfOthersCanSendAForm(t *testing.T) {
	r := newRig(t, false, nil)
	for i := range actions {
		path := actions[i].pathOf()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(""))
		request.Host = "localhost"
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		if answer.Code != http.StatusForbidden {
			t.Errorf("%s is answered with %d", path, answer.Code)
		}
	}
}

func TestAPageOfOthersCannotAct(t *testing.T) {
	r := newRig(t, false, nil)
	job := later(r)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/jobs/"+text(job.ID)+"/cancel", strings.NewReader("reason=x"))
	request.Host = "localhost"
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code != http.StatusForbidden || r.state(job.ID) != fairlead.Scheduled {
		t.Errorf("it is answered with %d, and the job is %s", answer.Code, r.state(job.ID))
	}
}

func TestAScriptGetsAFormAloneAndIsToldWhereToGo(t *testing.T) {
	r := newRig(t, false, nil)
	path := "/jobs/" + text(later(r).ID)
	ask := func(method string) (*httptest.ResponseRecorder, string) {
		request := httptest.NewRequestWithContext(t.Context(), method, path+"/cancel", strings.NewReader(""))
		request.Host = "localhost"
		request.Header.Set(scripted, "1")
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		return answer, answer.Body.String()
	}
	if _, body := ask(http.MethodGet); !strings.HasPrefix(body, `<form class="act"`) {
		t.Errorf("the form begins with %.80s", body)
	}
	if answer, _ := ask(http.MethodPost); answer.Code != http.StatusNoContent || answer.Header().Get("X-Location") != path {
		t.Errorf("%d, %v", answer.Code, answer.Header())
	}
}

func TestAScriptIsRefusedWithoutAPage(t *testing.T) {
	r := newRig(t, false, nil)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/jobs/77/cancel", nil)
	request.Host = "localhost"
	request.Header.Set(scripted, "1")
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	if answer.Code != http.StatusNotFound || !strings.HasPrefix(answer.Body.String(), `<div class="act">`) {
		t.Errorf("%d, %.100s", answer.Code, answer.Body)
	}
	r.shows(answer.Body.String(), `id="problem"`, "data-close")
}
