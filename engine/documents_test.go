package engine

import (
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestClaimsAskForAsManyJobsAsTheirDocumentsHaveRoomFor(t *testing.T) {
	d := newDocuments(2)
	want := func(room, jobs int) {
		t.Helper()
		if got, _ := d.room(room); got != jobs {
			t.Errorf("of %d jobs %d are asked for, not %d", room, got, jobs)
		}
	}
	want(500, 500)
	claimed := func(whole, bare int) (jobs []*fairlead.Job) {
		for i := range whole + bare {
			jobs = append(jobs, &fairlead.Job{Status: fairlead.Status{Bare: i >= whole}})
		}
		return jobs
	}
	d.claimed(claimed(3, 497))
	want(500, 3)
	d.claimed(claimed(2, 0)) // there were no more: nothing is known of others
	want(500, 3)
	d.claimed(claimed(3, 0))
	want(500, 6)
	want(4, 4)
	d.claimed(claimed(0, 6))
	want(500, 1)

	full := &run{job: &fairlead.Job{Args: make(json.RawMessage, 2*jobDocuments+queuedDocuments)}}
	d.add(full)
	want(500, 0)
	full.job.Args = nil // a handler may do that
	d.drop(full)
	want(500, 1)
	if _, bytes := d.room(1); bytes != 2*jobDocuments+queuedDocuments {
		t.Errorf("there is room for %d bytes", bytes)
	}
}
