package sqlstore

import (
	"fmt"
	"math/rand/v2"
)

// newTrace is the W3C traceparent of a trace that begins with a run: nobody asked
// for the run who could have begun it. It is sampled, as traces that begin here
// are by default.
func newTrace() string {
	return fmt.Sprintf("00-%016x%016x-%016x-01", rand.Uint64(), rand.Uint64()|1, rand.Uint64()|1) // the ids may not be zero
}
