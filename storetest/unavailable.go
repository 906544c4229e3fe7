package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Outage is a state of a database in which it cannot do what it is asked for now.
type Outage struct {
	// Begin makes it so, behind the back of the store.
	Begin func(t *testing.T)
	// Reads says that verbs that change nothing may succeed.
	Reads bool
	// Often is called before every verb, if it is not nil: for outages that a verb
	// overcomes by itself, such as a connection that was cut.
	Often func(t *testing.T)
	// Store is asked during the outage, instead of the one that made everything before.
	Store Store
	// Timeout is how long a verb may take; default 30s.
	Timeout time.Duration
}

// mutating are verbs that cannot succeed without a change of the database.
var mutating = []string{
	"Beat", "Save", "Enqueue", "EnqueueOnce", "PauseBatch", "Settle", "AddToken", "Audit", "PutCalendar", "PutSchedule", "CreateBatch", "PutSweep",
	"PutTenant", "SetAlert", "SetLimit", "PauseKind", "SetPriority", "Reschedule", "RunNow", "Cancel", "Delete", "DeleteSchedule", "Drain", "Join",
}

// RunUnavailable checks that a verb that fails during an outage fails with
// fairlead.ErrUnavailable, unless it was refused for another reason.
func RunUnavailable(t *testing.T, store Store, outage Outage) {
	t.Helper()
	b := newBreakable(t, store)
	timeout := outage.Timeout
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	if outage.Store != nil {
		b.ask(outage.Store)
	}
	outage.Begin(t)
	failed := 0
	for _, verb := range b.verbs() {
		if outage.Often != nil {
			outage.Often(t)
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		err := verb.call(ctx)
		cancel()
		switch {
		case errors.Is(err, fairlead.ErrUnavailable):
			failed++
		case err == nil && outage.Reads && slices.Contains(mutating, verb.name):
			t.Errorf("%s succeeds", verb.name)
		case err != nil && !isVerdict(err):
			t.Errorf("%s fails with %v, which does not say that this passes", verb.name, err)
		}
	}
	if failed == 0 && outage.Often == nil {
		t.Error("no verb noticed the outage")
	}
}

// isVerdict reports whether an error is one that callers tell apart.
func isVerdict(err error) bool {
	for _, verdict := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}
