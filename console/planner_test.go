package console

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// planner is a rig that makes schedules over the API, and follows lists to their end.
type planner struct {
	*rig
	fresh  *Console // made anew after each change: what was read before counts no more
	secret string   // the token of who looks; empty: none
}

// newPlanner makes a planner, who is an admin if tokens are asked for.
func newPlanner(t *testing.T, auth bool) *planner {
	t.Helper()
	kinds := fairlead.NewMux()
	kinds.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	kinds.Handle("broken", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("it is broken")) }))
	p := &planner{rig: newRig(t, auth, kinds)}
	if auth {
		p.secret = p.token("planner", access.RoleAdmin)
	}
	return p
}

// as returns the same service for another viewer.
func (p *planner) as(name string, role access.Role, tenants ...string) *planner {
	p.Helper()
	return &planner{rig: p.rig, secret: p.token(name, role, tenants...)}
}

// local makes a request one from this machine.
func local(request *http.Request) *http.Request {
	request.Host, request.RemoteAddr = "localhost", "127.0.0.1:1234"
	return request
}

// asks calls the API, which must succeed, and returns its answer.
func (p *planner) asks(verb, path, body string) (answer map[string]any) {
	p.Helper()
	request := local(httptest.NewRequestWithContext(p.Context(), verb, path, strings.NewReader(body)))
	if p.secret != "" {
		request.Header.Set("Authorization", "Bearer "+p.secret)
	}
	recorder := httptest.NewRecorder()
	p.api.ServeHTTP(recorder, request)
	raw, err := io.ReadAll(recorder.Body)
	if err != nil || recorder.Code != http.StatusOK {
		p.Fatalf("%s %s: %d, %v: %s", verb, path, recorder.Code, err, raw)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		p.Fatalf("%s %s: %v in %s", verb, path, err, raw)
	}
	if verb != http.MethodGet {
		p.fresh = nil
	}
	return answer
}

// schedule makes a schedule, and returns its id.
func (p *planner) schedule(body string) string {
	p.Helper()
	return p.asks("POST", "/api/v1/schedules", body)["id"].(string)
}

// page returns a page, which must be answered with the status.
func (p *planner) page(status int, path string, cookies ...string) string {
	p.Helper()
	if p.fresh == nil {
		var err error
		if p.fresh, err = New(p.api, Options{Version: "test", Log: slog.New(slog.NewTextHandler(p.Output(), nil))}); err != nil {
			p.Fatal(err)
		}
	}
	request := local(httptest.NewRequestWithContext(p.Context(), http.MethodGet, path, nil))
	if p.secret != "" {
		cookies = append(cookies, sessionCookie, p.secret)
	}
	for i := 0; i+1 < len(cookies); i += 2 {
		request.AddCookie(&http.Cookie{Name: cookies[i], Value: cookies[i+1]})
	}
	recorder := httptest.NewRecorder()
	p.fresh.ServeHTTP(recorder, request)
	if recorder.Code != status {
		p.Fatalf("%s: %d, want %d: %s", path, recorder.Code, status, recorder.Body)
	}
	return recorder.Body.String()
}

var (
	rowPattern   = regexp.MustCompile(`<[^>]* data-row id="([^"]*)"`)
	nextPattern  = regexp.MustCompile(`<a href="([^"]*)"[^>]* data-next`)
	countPattern = regexp.MustCompile(`<a class="count[^"]*" href="([^"]*)" data-count="(\d+)"`)
)

// rows returns the IDs of the rows of a list, from all its pages.
func (p *planner) rows(path string) (ids []string) {
	p.Helper()
	for pages := 0; path != ""; pages++ {
		if pages > 100 {
			p.Fatalf("%s leads to no end", path)
		}
		page := p.page(http.StatusOK, path)
		for _, found := range rowPattern.FindAllStringSubmatch(page, -1) {
			ids = append(ids, found[1])
		}
		path = ""
		if next := nextPattern.FindStringSubmatch(page); next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	return ids
}

// counts returns the numbers on a page that link to rows, by link.
func (p *planner) counts(page string) map[string]int {
	p.Helper()
	found := map[string]int{}
	for _, match := range countPattern.FindAllStringSubmatch(page, -1) {
		n, err := strconv.Atoi(match[2])
		if err != nil {
			p.Fatal(err)
		}
		found[html.UnescapeString(match[1])] = n
	}
	return found
}

// until waits for something to be so.
func (p *planner) until(what string, so func() bool) {
	p.Helper()
	deadline := time.After(patience.Limit)
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for !so() {
		select {
		case <-deadline:
			p.Fatalf("waited too long until %s", what)
		case <-ticks.C:
		}
	}
}

// chosenByPlans returns texts that pages of schedules and calendars choose by responses of
// the API.
func chosenByPlans() (texts []string) {
	for _, words := range []map[string]string{triggers, skipReasons, policyWords, alertEvents} {
		for _, text := range words {
			texts = append(texts, text)
		}
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		texts = append(texts, day.String(), day.String()[:len("Mon")], day.String()[:len("Mo")], "every "+day.String())
	}
	for month := time.January; month <= time.December; month++ {
		texts = append(texts, month.String())
	}
	return texts
}
