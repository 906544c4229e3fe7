package engine

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// A handler whose time is over sees that its deadline was exceeded and not that it was
// cancelled, even if the watch notices first.
func TestTheWatchDoesNotCancelAHandlerWhoseTimeIsOver(t *testing.T) {
	for cause, isCancelled := range map[error]bool{verdict.ErrTimeout: false, verdict.ErrCancelled: true} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		r := &run{job: &fairlead.Job{}}
		r.begin(time.Hour, cancel)
		r.end(cause)
		if got := ctx.Err() != nil; got != isCancelled || r.why() != cause { //nolint:errorlint // it is this very one
			t.Errorf("%v: its context is %v, and its cause %v", cause, ctx.Err(), r.why())
		}
		cancel()
	}
}
