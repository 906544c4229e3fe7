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
	for !seen("/jobs/"+text(job.ID), `(?s)id="job-waited".*Queue &#34;mail&#34; was paused.`) {
	}
}

func TestWhatAJobHardlyWaitedForIsNotShown(t *testing.T) {
	r := newRig(t, false, nil)
	r.run()
	job := &fairlead.Job{Kind: "noop"}
	r.enqueue(job)
	for r.state(job.ID) != fairlead.Succeeded {
	}
	r.hides(r.page(http.StatusOK, "/jobs/"+text(job.ID)), `id="job-waited"`)
}
