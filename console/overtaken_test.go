package console

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
)

func TestNewerJobsThatStartedFirstAreCounted(t *testing.T) {
	r := newRig(t, false, nil)
	older, job := &fairlead.Job{Kind: "noop", Priority: 9}, &fairlead.Job{Kind: "noop"}
	r.enqueue(older)
	r.enqueue(job)
	r.enqueue(&fairlead.Job{Kind: "noop", Priority: 5}, &fairlead.Job{Kind: "noop", Priority: 1}, &fairlead.Job{Kind: "noop", Priority: -1}, &fairlead.Job{Kind: "noop", Priority: 5, Queue: "other"})
	node, err := r.store.Join(t.Context(), fairlead.Node{Name: "busy", Kinds: []string{"noop"}, Slots: 9}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"noop"}}, Max: 4}); err != nil {
		t.Fatal(err)
	}
	v := r.console.visit(httpRequest(r), &viewer{Role: "operator", host: "localhost", address: "127.0.0.1:1"})
	read, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: job.ID})
	if err != nil {
		t.Fatal(err)
	}
	for cause, want := range map[string]int{"in_line": 2, "paused": 0} {
		w := &waited{all: []waitedLine{{To: time.Now().Add(time.Hour)}}, Shares: []waitShare{{Code: cause, Length: noticed}}}
		if got, err := v.overtakenBy(read, w); got != want || err != nil {
			t.Errorf("a job that waited because of %s was overtaken by %d jobs, want %d; %v", cause, got, want, err)
		}
	}
}
