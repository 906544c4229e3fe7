package console

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestAListOfReadyJobsSaysWhatKeepsThemWaiting(t *testing.T) {
	r := newRig(t, false, nil)
	r.enqueue(jobsOf(60, fairlead.Job{Kind: "orphan", Tenant: "acme"})...)
	r.enqueue(jobsOf(3, fairlead.Job{Kind: "orphan", Tenant: "globex"})...)
	r.enqueue(jobsOf(2, fairlead.Job{Kind: "noop", Queue: "mail"})...)
	r.send(http.StatusSeeOther, "/queues/mail/pause", url.Values{})
	before := r.page(http.StatusOK, "/jobs?state=ready")
	r.shows(before, "<th scope=\"col\" class=\"number\">Age</th>", "<th scope=\"col\">Why</th>")
	r.hides(before, `id="jobs-waiting"`, "in line") // no node has looked yet
	r.run()
	for path, want := range map[string][]string{
		"/jobs?state=ready": {
			`(?s)data-count="63">63</a> <span class="state tone-bad">no node</span> <span>No live node that accepts jobs serves queue &#34;default&#34; and handles kind &#34;orphan&#34;.</span>.*data-count="2">`,
			`(?s)id="jobs-waiting".*href="/new/bulk/cancel\?[^"]*kind%3Dorphan[^"]*" data-dialog>Cancel all</a>`,
			`<td><span class="state tone-held">paused</span></td>`, `<td><span class="state tone-bad">no node</span></td>`,
		},
		"/jobs?state=ready&tenant=globex": {`data-count="3">3</a> <span class="state tone-bad">no node</span>`},
		"/jobs?state=ready&queue=mail":    {`data-count="2">2</a> <span class="state tone-held">paused</span> <span>Queue &#34;mail&#34; is paused.</span>`, `href="/queues/mail/resume\?[^"]*" data-dialog>Resume</a>`},
	} {
		for _, text := range want {
			for shown := false; !shown; {
				r.console.forget()
				shown = regexp.MustCompile(text).MatchString(r.page(http.StatusOK, path))
			}
		}
	}
	r.countsHold("/jobs?state=ready")
	r.hides(r.page(http.StatusOK, "/jobs?state=ready&queue=mail"), "orphan")
	r.hides(r.page(http.StatusOK, "/jobs"), "<th scope=\"col\">Why</th>")
}

func TestAnAgeCountsFromWhenAJobWasDue(t *testing.T) {
	now := time.Now()
	v := &visit{Now: now}
	for want, job := range map[time.Duration]*fairleadv1.Job{
		time.Hour:   {CreatedAt: timestamppb.New(now.Add(-time.Hour))},
		time.Minute: {CreatedAt: timestamppb.New(now.Add(-time.Hour)), NotBefore: timestamppb.New(now.Add(-time.Minute))},
		0:           {CreatedAt: timestamppb.New(now.Add(time.Second))}, // by another clock
	} {
		if got := v.Age(job); got != want {
			t.Errorf("the age is %v, want %v", got, want)
		}
	}
}

func TestSelectedRowsAreActedOnTogether(t *testing.T) {
	r := newRig(t, false, nil)
	jobs := jobsOf(4, fairlead.Job{Kind: "mail", NotBefore: time.Now().Add(time.Hour)})
	r.enqueue(jobs...)
	list := r.page(http.StatusOK, "/jobs?state=scheduled")
	r.shows(list, `<form id="selection" method="get"`, `<button formaction="/new/bulk/cancel">Cancel</button>`, `<button formaction="/new/bulk/run">Run now</button>`, `name="id" value="`+text(jobs[0].ID)+`"`)
	r.hides(list, `formaction="/new/bulk/retry"`)
	form := r.page(http.StatusOK, "/new/bulk/cancel?id="+text(jobs[1].ID)+"&id="+text(jobs[2].ID))
	r.shows(form, `<strong id="bulk-matched">2</strong>`, "2 selected jobs")
	r.shows(form, `name="filter" value="id=`+text(jobs[1].ID)+`&amp;id=`+text(jobs[2].ID)+`"`)
	answer := r.ask(http.MethodPost, "/new/bulk/cancel", url.Values{"filter": {"id=" + text(jobs[1].ID) + "&id=" + text(jobs[2].ID)}})
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d", answer.StatusCode)
	}
	r.run()
	for i, want := range []fairlead.State{fairlead.Scheduled, fairlead.Cancelled, fairlead.Cancelled, fairlead.Scheduled} {
		for want == fairlead.Cancelled && r.state(jobs[i].ID) != want {
		}
		if got := r.state(jobs[i].ID); got != want {
			t.Errorf("job %d is %s, want %s", i, got, want)
		}
	}
	if got := r.listed("/jobs?id=" + text(jobs[1].ID) + "&id=" + text(jobs[3].ID)); len(got) != 2 || got[0] != text(jobs[3].ID) || got[1] != text(jobs[1].ID) {
		t.Errorf("the list of two jobs has %v", got)
	}
	r.shows(r.page(http.StatusBadRequest, "/new/bulk/cancel"), "must specify which jobs to change")
	r.page(http.StatusBadRequest, "/jobs?id=x")
	r.page(http.StatusBadRequest, "/jobs?id=1&schedule=1")
}
