package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/httpcall"
)

// waitingJob stores a job of acme that waits for an hour. It returns the path of the job,
// its run, and a function for the token of a run.
func (a *guardedAPI) waitingJob() (path string, run httpcall.Callback, token func(httpcall.Callback) []string) {
	a.Helper()
	return a.waitingJobFor(time.Hour)
}

func (a *guardedAPI) waitingJobFor(wait time.Duration) (path string, run httpcall.Callback, token func(httpcall.Callback) []string) {
	a.Helper()
	ctx := a.Context()
	node, err := a.store.Join(ctx, fairlead.Node{Name: "n", Kinds: []string{"asks"}}, time.Hour)
	if err != nil {
		a.Fatal(err)
	}
	if err := a.client.Enqueue(ctx, &fairlead.Job{Kind: "asks", Tenant: "acme"}); err != nil {
		a.Fatal(err)
	}
	jobs, err := a.store.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"asks"}}, Max: 1})
	if err != nil || len(jobs) != 1 {
		a.Fatalf("%d are claimed: %v", len(jobs), err)
	}
	if _, err := a.store.Settle(ctx, []fairlead.Settlement{{ID: jobs[0].ID, Fence: jobs[0].Fence, Move: fairlead.MoveAwait, After: wait}}); err != nil {
		a.Fatal(err)
	}
	key, err := httpcall.CallbackKey(ctx, a.store)
	if err != nil {
		a.Fatal(err)
	}
	run = httpcall.Callback{Tenant: "acme", Job: jobs[0].ID, Fence: jobs[0].Fence, Expires: time.Now().Add(time.Hour)}
	return "/api/v1/callbacks/" + strconv.FormatInt(run.Job, 10), run, func(c httpcall.Callback) []string {
		return []string{"Authorization", "Bearer " + httpcall.MakeToken(key, c)}
	}
}

func (a *guardedAPI) wantJob(id int64, want fairlead.State) {
	a.Helper()
	job, err := a.client.Get(a.Context(), id)
	if err != nil || job.State != want {
		a.Fatalf("job %d is %v, want %s: %v", id, job, want, err)
	}
}

func TestACallbackCountsOnceAndItsRepeatIsFine(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	a.send(400, "POST", path, `{"status":"done"}`, token(run)...)
	a.send(400, "POST", path, `{`, token(run)...)
	a.wantJob(run.Job, fairlead.Waiting)
	first, header := a.send(200, "POST", path, `{"status":"success","output":{"n":1}}`, token(run)...)
	if header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("answered with %v", header)
	}
	again, _ := a.send(200, "POST", path, `{"status":"success","output":{"n":1}}`, token(run)...)
	if jsonOf(t, first) != jsonOf(t, again) {
		t.Errorf("answered %v, then %v", first, again)
	}
	a.wantJob(run.Job, fairlead.Succeeded)
	a.send(409, "POST", path, `{"status":"success","output":{"n":2}}`, token(run)...)
	a.send(409, "POST", path, `{"status":"failure","error":"no"}`, token(run)...)
	a.wantJob(run.Job, fairlead.Succeeded)

	// Source 003, data model: callback_method.
	path, run, token = a.waitingJob()
	a.send(401, "PUT", path, `{"status":"success"}`)
	for _, verb := range []string{"PUT", "PUT", "POST"} {
		a.send(200, verb, path, `{"status":"success","output":1}`, token(run)...)
	}
	a.wantJob(run.Job, fairlead.Succeeded)

	path, run, token = a.waitingJob()
	a.send(200, "POST", path, `{"status":"failure","error":"no"}`, token(run)...)
	job, err := a.client.Get(t.Context(), run.Job)
	if err != nil || job.State == fairlead.Waiting || job.State == fairlead.Succeeded {
		t.Errorf("refused, it is %v: %v", job, err)
	}
}

func TestNobodyElseCanAnswer(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	otherPath, other, _ := a.waitingJob()
	changed := func(change func(*httpcall.Callback)) []string {
		c := run
		change(&c)
		return token(c)
	}
	forged := token(run)[1]
	forged = forged[:len(forged)-1] + map[bool]string{true: "A", false: "B"}[!strings.HasSuffix(forged, "A")]
	for name, c := range map[string]struct {
		status  int
		path    string
		headers []string
	}{
		"no token":                   {401, path, nil},
		"a token of the API":         {401, path, []string{"Authorization", "Bearer " + a.token(access.RoleAdmin, "")}},
		"a forged one":               {401, path, []string{"Authorization", forged}},
		"one with another key":       {401, path, []string{"Authorization", "Bearer " + httpcall.MakeToken([]byte("guessed"), run)}},
		"one of another job":         {401, otherPath, token(run)},
		"another job in it":          {401, path, changed(func(c *httpcall.Callback) { c.Job = other.Job })},
		"one of another tenant":      {401, path, changed(func(c *httpcall.Callback) { c.Tenant = "zeta" })},
		"one of another run":         {409, path, changed(func(c *httpcall.Callback) { c.Fence++ })},
		"one that is too old":        {410, path, changed(func(c *httpcall.Callback) { c.Expires = time.Now().Add(-time.Hour) })},
		"a job that is not a number": {401, "/api/v1/callbacks/x", token(run)},
	} {
		t.Run(name, func(t *testing.T) {
			answer, header := a.send(c.status, "POST", c.path, `{"status":"success"}`, c.headers...)
			if c.status == 401 && header.Get("WWW-Authenticate") == "" {
				t.Error("401 does not say how to authenticate")
			}
			if strings.Contains(jsonOf(t, answer), strings.TrimPrefix(token(run)[1], "Bearer ")) {
				t.Errorf("the token is in %v", answer)
			}
		})
	}
	a.wantJob(run.Job, fairlead.Waiting)
	a.wantJob(other.Job, fairlead.Waiting)
}

func TestOfManyCallbacksAtOnceOneCounts(t *testing.T) {
	a := newGuardedAPI(t)
	path, run, token := a.waitingJob()
	var taken, refused atomic.Int32
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+path, strings.NewReader(`{"status":"success","output":`+strconv.Itoa(n)+`}`))
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("Authorization", token(run)[1])
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			switch response.StatusCode {
			case http.StatusOK:
				taken.Add(1)
			case http.StatusConflict:
				refused.Add(1)
			default:
				t.Errorf("answered with %s", response.Status)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 || refused.Load() != 99 {
		t.Errorf("%d were taken and %d refused, want 1 and 99", taken.Load(), refused.Load())
	}
	a.wantJob(run.Job, fairlead.Succeeded)
}
