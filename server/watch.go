package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"
)

// watchEvery is how often a job, batch or sweep that a caller watches is read.
const watchEvery = 250 * time.Millisecond

// watch reads something again and again, and sends it whenever it has changed. It ends
// when over reports true, when the caller goes or when the program stops. lasting is what
// counts as a change: it leaves out what changes with the time alone.
func watch[In any, Out proto.Message](ctx context.Context, stopping <-chan struct{}, in In, get func(context.Context, In) (Out, error), lasting func(Out) Out, over func(Out) bool, send func(Out) error) error {
	var last [sha256.Size]byte // what was sent may be large
	expected := int64(answerShare)
	return repeat(ctx, stopping, watchEvery, func() (done bool, err error) {
		share, err := reserve(ctx, expected)
		if errors.Is(err, errManyAnswers) {
			return false, nil // the next look may find memory
		}
		if err != nil {
			return false, err
		}
		defer share.settle(0)
		current, err := get(ctx, in)
		if err != nil {
			return false, err
		}
		if size := proto.Size(current); share.covers(size) {
			expected = min(max(neededShare(size), expectedShare), answerShare)
		} else {
			expected = answerShare
			return false, nil // it has grown; the next look waits for memory
		}
		now, err := proto.MarshalOptions{Deterministic: true}.Marshal(lasting(current))
		if err != nil {
			return false, err
		}
		if hash := sha256.Sum256(now); hash != last {
			if err := send(current); err != nil {
				return false, err
			}
			last = hash
		}
		return over(current), nil
	})
}

// repeat calls look at once and then once per pause, until it is done or fails, the
// caller goes or the program stops.
func repeat(ctx context.Context, stopping <-chan struct{}, pause time.Duration, look func() (done bool, err error)) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // the caller has gone
		case <-stopping:
			return nil
		case <-ticks.C:
		}
	}
}
