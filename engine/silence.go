package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// silence is what happened since the last beat that was acknowledged, to tell whose
// fault it is if the lease is lost. Only the loop that beats uses it.
type silence struct {
	since time.Time     // when that beat was sent
	fails int           // beats since then that got no answer
	stood time.Duration // for how long the process did not run when it should have
}

// stillness is how late a process may run without having stood still.
const stillness = 100 * time.Millisecond

func newSilence(now time.Time) *silence { return &silence{since: now} }

// end is called with the time before an acknowledged beat was sent.
func (s *silence) end(sent time.Time) { *s = silence{since: sent} }

// stoodStill is called with how late something happened that only the process itself
// can delay: the end of a pause or of a timeout.
func (s *silence) stoodStill(late time.Duration) {
	if late > stillness {
		s.stood += late
	}
}

// lost is the error of a lease that is lost now. A remote node has a service between
// itself and the database.
func (s *silence) lost(node fairlead.NodeID, remote bool) error {
	e := &lostLease{node: node, silence: time.Since(s.since)}
	switch {
	case 2*s.stood >= e.silence:
		e.whose = "this process did not run"
	case s.fails > 0:
		e.whose = "the database did not answer"
		if remote {
			e.whose = "the service did not answer"
		}
	default:
		e.whose = "the lease had been ended"
	}
	return e
}

// lostLease says how long the silence was that cost the lease, and whose.
type lostLease struct {
	node    fairlead.NodeID
	silence time.Duration
	whose   string
}

func (e *lostLease) Error() string {
	return fmt.Sprintf("node %d: %v", e.node, fairlead.ErrLeaseLost)
}

// Unwrap returns ErrLeaseLost.
func (e *lostLease) Unwrap() error { return fairlead.ErrLeaseLost }

// silenceOf returns what a line of the log says of a lost lease.
func silenceOf(err error) []any {
	var e *lostLease
	if !errors.As(err, &e) {
		return nil
	}
	return []any{"node", int64(e.node), "silence", e.silence.Round(time.Millisecond), "of", e.whose}
}
