package connecttest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc/connecttest"
)

const config = `{"connector.class":"x","tasks.max":"2"}`

// ask makes a request and gives its status and body.
func ask(t *testing.T, f *connecttest.Fleet, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, f.URL("a")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func expect(t *testing.T, f *connecttest.Fleet, method, path, body string, status int, says string) {
	t.Helper()
	got, text := ask(t, f, method, path, body)
	if got != status || !strings.Contains(text, says) {
		t.Errorf("%s %s: %d %s, wanted %d with %s", method, path, got, text, status, says)
	}
	var problem struct {
		Code    int    `json:"error_code"`
		Message string `json:"message"`
	}
	if got >= 400 && (json.Unmarshal([]byte(text), &problem) != nil || problem.Code != got || problem.Message == "") {
		t.Errorf("%s %s: the error is %s", method, path, text)
	}
}

func TestTheLifeOfAConnector(t *testing.T) {
	f := connecttest.New(t, connecttest.Options{})
	expect(t, f, "GET", "/", ``, 200, `"version":"3.7.0"`)
	expect(t, f, "GET", "/connectors", ``, 200, `[]`)
	for _, path := range []string{"", "/config", "/status", "/offsets"} {
		expect(t, f, "GET", "/connectors/c"+path, ``, 404, `c`)
	}
	expect(t, f, "POST", "/connectors", `{"name":"c","config":`+config+`,"initial_state":"STOPPED"}`, 201, `"tasks":[]`)
	expect(t, f, "POST", "/connectors", `{"name":"c","config":`+config+`}`, 409, `already exists`)
	expect(t, f, "GET", "/connectors/c/status", ``, 200, `"state":"STOPPED"`)
	expect(t, f, "PATCH", "/connectors/c/offsets", `{"offsets":[{"partition":{"p":1},"offset":{"o":9007199254740993}}]}`, 200, `altered successfully`)
	expect(t, f, "PATCH", "/connectors/c/offsets", `{"offsets":[]}`, 400, `need to be provided`)
	expect(t, f, "PUT", "/connectors/c/resume", ``, 202, ``)
	expect(t, f, "GET", "/connectors/c/status", ``, 200, `"id":1,"state":"RUNNING"`)
	expect(t, f, "PATCH", "/connectors/c/offsets", `{"offsets":[{"partition":{"p":1},"offset":null}]}`, 400, `must be in the STOPPED state`)
	expect(t, f, "DELETE", "/connectors/c/offsets", ``, 400, `must be in the STOPPED state`)
	expect(t, f, "PUT", "/connectors/c/config", `{"connector.class":"x","tasks.max":"3"}`, 200, `"tasks.max":"3"`)
	expect(t, f, "PUT", "/connectors/c/config", `{"connector.class":"x","name":"d"}`, 400, `doesn't match`)
	expect(t, f, "PUT", "/connectors/c/config", `{}`, 400, `no connector type`)
	expect(t, f, "PUT", "/connectors/c/pause", ``, 202, ``)
	expect(t, f, "GET", "/connectors/c/status", ``, 200, `"state":"PAUSED"`)
	expect(t, f, "POST", "/connectors/c/restart?includeTasks=true", ``, 202, `PAUSED`)
	expect(t, f, "PUT", "/connectors/c/stop", ``, 204, ``)
	expect(t, f, "DELETE", "/connectors/c", ``, 204, ``)
	expect(t, f, "DELETE", "/connectors/c", ``, 404, `not found`)
	expect(t, f, "PUT", "/connectors/c/config", config, 201, `"name":"c"`)
	expect(t, f, "GET", "/connectors/c/offsets", ``, 200, `9007199254740993`) // offsets outlive connectors
	expect(t, f, "POST", "/connectors/c/stop", ``, 405, ``)
}

func TestWhatIsAskedShowsLater(t *testing.T) {
	f := connecttest.New(t, connecttest.Options{Settle: time.Hour})
	f.Add("a", "c", connecttest.Connector{Config: map[string]string{"connector.class": "x"}})
	expect(t, f, "PUT", "/connectors/c/stop", ``, 204, ``)
	expect(t, f, "GET", "/connectors/c/status", ``, 200, `"state":"RUNNING"`)
	expect(t, f, "GET", "/connectors/c", ``, 200, `"tasks":[]`)
	expect(t, f, "DELETE", "/connectors/c/offsets", ``, 400, `STOPPED`)
	expect(t, f, "POST", "/connectors", `{"name":"d","config":`+config+`}`, 201, ``)
	expect(t, f, "GET", "/connectors/d/status", ``, 404, `No status found`)
}

func TestARebalanceAnswers409(t *testing.T) {
	f := connecttest.New(t, connecttest.Options{Rebalance: time.Hour})
	expect(t, f, "POST", "/connectors", `{"name":"c","config":`+config+`}`, 201, ``)
	expect(t, f, "POST", "/connectors", `{"name":"d","config":`+config+`}`, 409, `rebalance`)
	expect(t, f, "PUT", "/connectors/c/config", config, 409, `Cannot complete request momentarily`)
	expect(t, f, "DELETE", "/connectors/c", ``, 409, ``)
	expect(t, f, "GET", "/connectors/c/status", ``, 200, ``)
	expect(t, f, "PUT", "/connectors/c/pause", ``, 202, ``)
}

func TestOlderVersions(t *testing.T) {
	f := connecttest.New(t, connecttest.Options{NoInitialState: true})
	expect(t, f, "POST", "/connectors", `{"name":"c","config":`+config+`,"initial_state":"STOPPED"}`, 500, `initial_state`)
	old := connecttest.New(t, connecttest.Options{Old: true})
	old.Add("a", "c", connecttest.Connector{})
	expect(t, old, "PUT", "/connectors/c/stop", ``, 404, `HTTP 404 Not Found`)
	expect(t, old, "GET", "/connectors/c/offsets", ``, 404, ``)
}

func TestFailuresAreChosen(t *testing.T) {
	f := connecttest.New(t, connecttest.Options{})
	f.Add("a", "c", connecttest.Connector{Config: map[string]string{"connector.class": "x"}})
	f.Fail(connecttest.Failure{Method: "PUT", Path: "/pause", Times: 1, After: true, Status: 503})
	expect(t, f, "PUT", "/connectors/c/resume", ``, 202, ``)
	expect(t, f, "PUT", "/connectors/c/pause", ``, 503, ``)
	expect(t, f, "PUT", "/connectors/c/pause", ``, 202, ``)
	if state := f.Snapshot()["a"]["c"].State; state != connecttest.Paused {
		t.Errorf("it is %s", state)
	}
	f.Fail(connecttest.Failure{Ratio: 0.5, Seed: 1})
	failed := 0
	for range 100 {
		if status, _ := ask(t, f, "GET", "/connectors/c", ``); status == 500 {
			failed++
		}
	}
	if failed < 30 || failed > 70 {
		t.Errorf("%d of 100 fail, wanted about half", failed)
	}
	f.Heal()
	expect(t, f, "GET", "/connectors/c", ``, 200, ``)
	if n := len(f.Requests()); n != 104 {
		t.Errorf("there were %d requests, wanted 104", n)
	}
}
