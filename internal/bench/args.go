package bench

import (
	"math/rand/v2"
	"time"
)

// Args is the input of every measured job.
type Args struct {
	Data string `json:"data"`         // random, so that it cannot be compressed
	At   int64  `json:"at,omitempty"` // time of the call to Enqueue, in nanoseconds since 1970; zero if it is not measured
}

// dataSize is the length of Args.Data.
const dataSize = 100

// NewArgs returns args with new random data.
func NewArgs() Args { return Args{Data: randomText(dataSize)} }

// Waited returns the time since the call to Enqueue, or zero if it is unknown. It compares
// clocks, not timers, because the caller may be another process on this machine.
func (a Args) Waited() time.Duration {
	if a.At == 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - a.At)
}

func newBatch(n int) []Args {
	batch := make([]Args, n)
	for i := range batch {
		batch[i] = NewArgs()
	}
	return batch
}

// randomText generates ten letters of six bits from each random number.
func randomText(size int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	const perNumber = 10
	text := make([]byte, size)
	var bits uint64
	for i := range text {
		if i%perNumber == 0 {
			bits = rand.Uint64()
		}
		text[i] = letters[bits&63]
		bits >>= 6
	}
	return string(text)
}
