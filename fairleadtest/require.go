package fairleadtest

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// RequireEnqueued returns the unfinished job of the given kind whose args match. It fails
// the test unless there is exactly one matching job. If match is nil, it accepts any args.
func RequireEnqueued[T any, S driver.Store](t TB, n *Node[S], kind fairlead.Kind[T], match func(T) bool) *fairlead.Job {
	t.Helper()
	found := enqueued(t, n.Client, kind, match)
	if len(found) != 1 {
		t.Fatalf("fairleadtest: %d unfinished jobs of kind %q match, want 1", len(found), kind.Name())
	}
	return found[0]
}

// RequireNotEnqueued fails the test if there is an unfinished job of the given kind whose
// args match. If match is nil, any args match.
func RequireNotEnqueued[T any, S driver.Store](t TB, n *Node[S], kind fairlead.Kind[T], match func(T) bool) {
	t.Helper()
	if found := enqueued(t, n.Client, kind, match); len(found) > 0 {
		t.Fatalf("fairleadtest: %d unfinished jobs of kind %q match, want none; the first is job %d", len(found), kind.Name(), found[0].ID)
	}
}

func enqueued[T any](t TB, client *fairlead.Client, kind fairlead.Kind[T], match func(T) bool) []*fairlead.Job {
	t.Helper()
	unfinished := []fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting}
	filter := fairlead.Filter{Kinds: []string{kind.Name()}, States: unfinished}
	var found []*fairlead.Job
	for {
		page, err := client.Find(t.Context(), filter)
		if err != nil {
			t.Fatalf("fairleadtest: find jobs: %v", err)
		}
		for _, job := range page.Jobs {
			args, err := kind.Args(job)
			if err != nil {
				t.Fatalf("fairleadtest: %v", err)
			}
			if match == nil || match(args) {
				found = append(found, job)
			}
		}
		if page.Next == 0 {
			return found
		}
		filter.Below = page.Next
	}
}
