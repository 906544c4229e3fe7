package demo

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// ask calls a path of the target.
func ask(t *testing.T, target *Target, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader("{}"))
	for key, values := range header {
		request.Header[key] = values
	}
	answer := httptest.NewRecorder()
	target.ServeHTTP(answer, request)
	return answer
}

func TestTheTargetCallsBackToItsServiceOnly(t *testing.T) {
	called := make(chan string, 1)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- r.URL.Path + " " + r.Header.Get("Authorization")
	}))
	defer service.Close()
	target := NewTarget()
	defer target.Close()
	if err := target.SetService(service.URL); err != nil {
		t.Fatal(err)
	}
	header := func(callback string) http.Header {
		return http.Header{"Fairlead-Callback-Url": {callback}, "Fairlead-Callback-Token": {"secret"}}
	}
	for _, elsewhere := range []string{"", "http://127.0.0.1:1/", "https" + strings.TrimPrefix(service.URL, "http"), service.URL + ".example.org/"} {
		if answer := ask(t, target, "/async", header(elsewhere)); answer.Code != http.StatusBadRequest {
			t.Errorf("a callback to %q is answered with %d", elsewhere, answer.Code)
		}
	}
	if answer := ask(t, target, "/async", header(service.URL+"/back")); answer.Code != http.StatusAccepted {
		t.Errorf("it is answered with %d", answer.Code)
	}
	if got := <-called; got != "/back Bearer secret" {
		t.Errorf("it called %q", got)
	}
}

func TestTheTargetFailsEachThirdCallOfFlaky(t *testing.T) {
	target := NewTarget()
	defer target.Close()
	var codes []int
	for range 6 {
		codes = append(codes, ask(t, target, "/flaky", nil).Code)
	}
	want := []int{200, 200, 503, 200, 200, 429}
	for i := range want {
		if codes[i] != want[i] {
			t.Fatalf("it answers %v, not %v", codes, want)
		}
	}
}

func TestTheTargetRefusesSecondsThatAreNone(t *testing.T) {
	target := NewTarget()
	defer target.Close()
	for _, path := range []string{"/slow", "/slow?seconds=many", "/slow?seconds=-1"} {
		if answer := ask(t, target, path, nil); answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "seconds") {
			t.Errorf("%s is answered with %d: %s", path, answer.Code, answer.Body)
		}
	}
}

func TestImportsFailInSeveralWays(t *testing.T) {
	errs := map[string]bool{}
	for id := range int64(3) {
		err := importFeed(context.Background(), &fairlead.Job{ID: id}, feed{File: "f"})
		if err == nil {
			t.Fatalf("job %d succeeded", id)
		}
		errs[err.Error()] = true
	}
	if len(errs) != 3 {
		t.Errorf("they fail with %v", errs)
	}
	defer func() {
		if recover() == nil {
			t.Error("none panics")
		}
	}()
	_ = importFeed(context.Background(), &fairlead.Job{ID: 3}, feed{Line: "4711;pallet;NORTH"})
}
