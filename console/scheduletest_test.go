package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestARequestIsTestedBeforeItsScheduleIsSaved(t *testing.T) {
	got := make(chan string, 3)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.Header.Get("X-One") + " " + string(body)
		w.Header().Set("X-Tea", "green")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	}))
	defer target.Close()
	r := newPlanner(t, true)
	operator, viewer := r.token("operator", access.RoleOperator), r.token("reader", access.RoleViewer)
	r.page(http.StatusForbidden, "/new/schedule", sessionCookie, viewer)
	page := r.page(http.StatusOK, "/new/schedule", sessionCookie, operator)
	r.shows(page, `name="test" value="true"`)
	form := filled(page)
	for name, value := range map[string]string{"call_url": target.URL, "call_method": "PUT", "call_headers": "X-One: 1", "call_body": `{"n":1}`, "daily": "", "test": "true"} {
		form.Set(name, value)
	}
	page = r.send(http.StatusOK, "/new/schedule", form, sessionCookie, operator)
	r.shows(page, `id="tested-call"`, "The request failed. A scheduled run would fail too:", "status 418", "X-Tea", "short and stout", "Nothing is saved yet.", `name="call_url" value="`+target.URL+`"`)
	r.comesFirst(page, `id="tested-call"`, `name="call_url"`)
	if sent := <-got; sent != `PUT 1 {"n":1}` {
		t.Errorf("the target got %s", sent)
	}
	r.page(http.StatusForbidden, "/new/schedule", sessionCookie, viewer)
	r.send(http.StatusForbidden, "/new/schedule", form, sessionCookie, viewer)
	form.Set("call_url", "ftp://nowhere")
	r.shows(r.send(http.StatusBadRequest, "/new/schedule", form, sessionCookie, operator), `id="problem"`)
	if schedules, err := schedule.NewClient(r.store).List(t.Context(), schedule.Filter{}); err != nil || len(schedules) != 0 {
		t.Errorf("the schedules are %v, %v", schedules, err)
	}
	if entries, err := r.store.AuditLog(t.Context(), access.Filter{}); err != nil || len(entries) == 0 || entries[0].Action != "TestScheduleDraft" {
		t.Errorf("the audit log is %v, %v", entries, err)
	}
}

func TestTheRequestOfAStoredScheduleIsTestedAsItIsEdited(t *testing.T) {
	got := make(chan string, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		got <- r.Method + " " + user + " " + password
	}))
	defer target.Close()
	r := newPlanner(t, false)
	withPassword := "http://ann:sesame@" + target.Listener.Addr().String()
	id := r.schedule(`{"name":"call","every":"3600s","job":{"kind":"http","args":{"url":"` + withPassword + `/x"}}}`)
	path := "/schedules/" + id + "/edit"
	form := filled(r.page(http.StatusOK, path))
	form.Set("call_method", "DELETE")
	form.Set("test", "true")
	page := r.send(http.StatusOK, path, form)
	r.shows(page, "The request succeeded. A scheduled run would succeed too.", "status 200")
	r.hides(page, "sesame")
	if sent := <-got; sent != "DELETE ann sesame" {
		t.Errorf("the target got %s", sent)
	}
	if stored := r.stored("call"); stored.Version != 1 {
		t.Errorf("the schedule was changed: %+v", stored)
	}
}
