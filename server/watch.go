package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// watchEvery is the interval at which a watched job, batch or sweep is read.
const watchEvery = 250 * time.Millisecond

// watch reads an object repeatedly, and sends it after every change. It ends when over
// returns true, the caller disconnects or the program shuts down. lasting returns the part
// of the object that counts as a change, without fields that change only with time.
func watch[In any, Out proto.Message](ctx context.Context, stopping <-chan struct{}, in In, get func(context.Context, In) (Out, error), lasting func(Out) Out, over func(Out) bool, send func(Out) error) error {
	var last [sha256.Size]byte // a hash, because messages may be large
	expected := int64(overload.LargeShare)
	return repeat(ctx, stopping, watchEvery, func() (done bool, err error) {
		share, err := overload.Reserve(ctx, expected)
		if errors.Is(err, overload.ErrManyResponses) {
			return false, nil // memory may be available at the next read
		}
		if err != nil {
			return false, err
		}
		defer share.Settle(0)
		current, err := get(ctx, in)
		if err != nil {
			return false, err
		}
		if size := proto.Size(current); share.Covers(size) {
			expected = min(max(overload.ShareFor(size), overload.SmallShare), overload.LargeShare)
		} else {
			expected = overload.LargeShare
			return false, nil // the response has grown; the next read waits for memory
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

// repeat calls look immediately and then at intervals, until look is done or fails, the
// caller disconnects or the program shuts down.
func repeat(ctx context.Context, stopping <-chan struct{}, pause time.Duration, look func() (done bool, err error)) error {
	ticks := time.NewTicker(pause)
	defer ticks.Stop()
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // the caller has disconnected
		case <-stopping:
			return nil
		case <-ticks.C:
		}
	}
}
