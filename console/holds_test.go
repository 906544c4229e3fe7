package console

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestWhatHeldWorkBackIsShownOfAJobAndOfAQueue(t *testing.T) {
	r := newRig(t, false, nil)
	r.send(http.StatusSeeOther, "/queues/mail/pause", url.Values{})
	job := &fairlead.Job{Kind: "noop", Queue: "mail"}
	r.enqueue(job)
	r.run()
	seen := func(path, text string) bool {
		r.console.forget()
		return regexp.MustCompile(text).MatchString(r.page(http.StatusOK, path))
	}
	for !seen("/holds?queue=mail", `(?s)id="holds-chart".*queue mail`) {
	}
	if seen("/holds?queue=letters", "queue mail") {
		t.Error("another queue is held back by it")
	}
	r.shows(r.page(http.StatusOK, "/jobs/"+text(job.ID)), `id="job-waited"`, "Queue &#34;mail&#34; was paused.", "still so")
	r.send(http.StatusSeeOther, "/queues/mail/resume", url.Values{})
	for r.state(job.ID) != fairlead.Succeeded {
	}
	for !seen("/jobs/"+text(job.ID), `>succeeded<`) {
	}
	r.shows(r.page(http.StatusOK, "/jobs/"+text(job.ID)), "Queue &#34;mail&#34; was paused.")
}
