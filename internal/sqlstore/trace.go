package sqlstore

import (
	"fmt"
	"math/rand/v2"
)

// newTrace returns the W3C traceparent of a trace that begins with a run, because no
// caller asked for the run. It is sampled, as traces that begin here are by default.
func newTrace() string {
	return fmt.Sprintf("00-%016x%016x-%016x-01", rand.Uint64(), rand.Uint64()|1, rand.Uint64()|1) // the ids must not be zero
}
