package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// An Outage is a state of a database in which it cannot serve requests.
type Outage struct {
	// Begin starts the outage, bypassing the store.
	Begin func(t *testing.T)
	// Reads reports whether read-only calls may succeed.
	Reads bool
	// Often, if not nil, is called before every call: for outages from which a call recovers,
	// such as a closed connection.
	Often func(t *testing.T)
	// Store receives the calls during the outage, instead of the store used for the
	// preparation.
	Store Store
	// Timeout limits the duration of a call; default 30s.
	Timeout time.Duration
}

// mutating lists calls that cannot succeed without a change to the database.
var mutating = []string{
	"Beat", "Save", "Enqueue", "EnqueueOnce", "PauseBatch", "Settle", "AddToken", "Audit", "PutCalendar", "PutSchedule", "CreateBatch", "PutSweep",
	"PutTenant", "SetAlert", "SetLimit", "PauseKind", "SetPriority", "Reschedule", "RunNow", "Cancel", "Delete", "DeleteSchedule", "Drain", "Join",
}

// RunUnavailable checks that a call that fails during an outage returns
// fairlead.ErrUnavailable, unless it was rejected for another reason.
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

// isVerdict reports whether an error is one that callers can distinguish.
func isVerdict(err error) bool {
	for _, verdict := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}
