package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// outage is what of the database of a rig does not work.
type outage struct {
	away atomic.Bool // it tells of no job and no token, and enqueues nothing
	lost atomic.Bool // it enqueues, and the answer is lost
}

var errAway = fmt.Errorf("gone: %w", fairlead.ErrUnavailable)

// Get fails on command.
func (c counting) Get(ctx context.Context, id int64) (*fairlead.Job, error) {
	if c.outage.away.Load() {
		return nil, errAway
	}
	return c.Store.Get(ctx, id)
}

// EnqueueOnce fails on command, before or after it is done.
func (c counting) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if c.outage.away.Load() {
		return false, errAway
	}
	repeated, err := c.Store.EnqueueOnce(ctx, once, jobs)
	if c.outage.lost.Load() {
		return false, errAway
	}
	return repeated, err
}

// hidden finds the hidden fields of a form.
var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// hiddenFields returns the hidden fields that a browser would send.
func hiddenFields(page string) url.Values {
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Add(field[1], strings.ReplaceAll(field[2], "&#34;", `"`))
	}
	return form
}

// sent submits a form and returns the response.
func (r *rig) sent(status int, path string, form url.Values, cookies ...string) (page string, answer *http.Response) {
	r.Helper()
	answer = r.ask(http.MethodPost, path, form, cookies...)
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		r.Fatalf("%s: %d, %v: %s", path, answer.StatusCode, err, body)
	}
	return string(body), answer
}

// jobsOf counts the jobs of a kind.
func (r *rig) jobsOf(kind string) int {
	r.Helper()
	jobs, err := r.jobs.Find(r.Context(), fairlead.Filter{Kinds: []string{kind}})
	if err != nil {
		r.Fatal(err)
	}
	return len(jobs.Jobs)
}

func TestAFormIsKeptWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "copied"}
	r.enqueue(job)
	path := fmt.Sprintf("/jobs/%d/copy", job.ID)
	form := hiddenFields(r.page(200, path))
	form.Set("args", `{"typed":"with care"}`)

	r.outage.away.Store(true)
	page, _ := r.sent(503, path, form, "lang", "en")
	r.shows(page, "the change may or may not have been saved", "Submit again", `name="args" value="{&#34;typed&#34;:&#34;with care&#34;}"`)
	again, _ := r.sent(503, path, hiddenFields(page), "lang", "zh")
	r.shows(again, "重新提交", "with care")

	r.outage.away.Store(false)
	_, answer := r.sent(303, path, hiddenFields(again))
	var made int64
	if _, err := fmt.Sscanf(answer.Header.Get("Location"), "/jobs/%d", &made); err != nil || r.jobsOf("copied") != 2 {
		t.Fatalf("it leads to %q, and there are %d jobs", answer.Header.Get("Location"), r.jobsOf("copied"))
	}
	if stored, err := r.jobs.Get(t.Context(), made); err != nil || string(stored.Args) != `{"typed":"with care"}` {
		t.Errorf("it has the args %s: %v", stored.Args, err)
	}
}

func TestWhatAFormEnqueuesIsEnqueuedOnceThoughTheAnswerWasLost(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "copied"}
	r.enqueue(job)
	path := fmt.Sprintf("/jobs/%d/copy", job.ID)
	form := hiddenFields(r.page(200, path))
	form.Set("args", `1`)
	r.outage.lost.Store(true)
	page, _ := r.sent(503, path, form)
	r.shows(page, "the change may or may not have been saved")
	r.outage.lost.Store(false)
	r.sent(303, path, form)
	r.sent(303, path, form) // a press too many, or the way back
	if n := r.jobsOf("copied"); n != 2 {
		t.Errorf("there are %d jobs", n)
	}
	form.Set("args", `2`) // another copy
	r.sent(303, path, form)
	if n := r.jobsOf("copied"); n != 3 {
		t.Errorf("there are %d jobs", n)
	}
}

func TestAPageLooksAgainByItselfWhenTheDatabaseDidNotAnswer(t *testing.T) {
	r := newRig(t, false, nil)
	job := &fairlead.Job{Kind: "copied"}
	r.enqueue(job)
	r.outage.away.Store(true)
	answer := r.ask(http.MethodGet, fmt.Sprintf("/jobs/%d", job.ID), nil)
	if answer.StatusCode != 503 || answer.Header.Get("Refresh") == "" {
		t.Errorf("it is answered with %d and %v", answer.StatusCode, answer.Header)
	}
	if answer := r.ask(http.MethodGet, "/nothing", nil); answer.Header.Get("Refresh") != "" {
		t.Error("a page that there is not looks again")
	}
}

func TestAFormIsKeptWhileItIsNotKnownWhoSendsIt(t *testing.T) {
	r := newRig(t, true, nil)
	job := &fairlead.Job{Kind: "copied"}
	r.enqueue(job)
	r.token("known", access.RoleOperator)
	r.outage.away.Store(true)
	path := fmt.Sprintf("/jobs/%d/cancel", job.ID)
	page, _ := r.sent(503, path, url.Values{"reason": {"typed with care"}}, sessionCookie, "secret-of-known")
	r.shows(page, "nothing was changed", "Submit again", "typed with care")
}
