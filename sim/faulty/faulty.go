// Package faulty is a store that fails on command: before a call took effect,
// after it did so that only its answer is lost, or by not answering. It wraps
// a real store, so that all else is real.
package faulty

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// ErrFault is what a call returns that was made to fail.
var ErrFault = fmt.Errorf("fault on command: %w", fairlead.ErrUnavailable)

// Call names a method of the store that can be made to fail.
type Call string

// The calls that a node makes.
const (
	Join    Call = "join"
	Beat    Call = "beat"
	Leave   Call = "leave"
	Claim   Call = "claim"
	Settle  Call = "settle"
	Save    Call = "save"
	Held    Call = "held"
	Listen  Call = "listen"
	Promote Call = "promote"
	Reap    Call = "reap"
	Expire  Call = "expire"
	Prune   Call = "prune"
	Lived   Call = "lived"
)

// Calls lists all of them.
func Calls() []Call {
	return []Call{Join, Beat, Leave, Claim, Settle, Save, Held, Listen, Promote, Reap, Expire, Prune, Lived}
}

// Always makes a fault last until Mend.
const Always = -1

// Store is a store with faults. It begins without any.
type Store struct {
	driver.Store

	mu     sync.Mutex
	faults map[Call]*fault
	counts map[Call]int
	late   sync.WaitGroup // effects still to come

	listeners map[int]context.CancelCauseFunc // those under way, by the count of their call
}

// fault is what is wrong with the next calls of one kind.
type fault struct {
	times  int // Always, or how many calls are left
	way    way
	after  time.Duration // late
	mended chan struct{} // hanging, held: closed by Mend or Release
	caught chan struct{} // held: closed when the call is there
}

type way int

const (
	failing way = iota // no effect, an error
	losing             // effect, then an error
	late               // an error, then the effect
	hanging            // no effect and no answer until the context ends
	held               // waits for Release, then goes on
)

// New wraps a store.
func New(store driver.Store) *Store {
	return &Store{Store: store, faults: map[Call]*fault{}, counts: map[Call]int{}, listeners: map[int]context.CancelCauseFunc{}}
}

// Fail makes the next calls fail without effect.
func (s *Store) Fail(times int, calls ...Call) { s.set(fault{times: times, way: failing}, calls) }

// LoseAnswer makes the next calls take effect and fail all the same.
func (s *Store) LoseAnswer(times int, calls ...Call) { s.set(fault{times: times, way: losing}, calls) }

// Delay makes the next calls fail at once and take effect only after a time.
func (s *Store) Delay(after time.Duration, times int, calls ...Call) {
	s.set(fault{times: times, way: late, after: after}, calls)
}

// QueryTimeout is after how long a call that hangs fails by itself, as those
// of real stores do.
const QueryTimeout = 30 * time.Second

// Hang makes the next calls wait without effect until their context ends,
// their QueryTimeout is over, or Mend lets them fail.
func (s *Store) Hang(times int, calls ...Call) { s.set(fault{times: times, way: hanging}, calls) }

// Hold makes the next call wait before it takes effect, whatever becomes of
// its context: caught is closed when it is there, release lets it go on.
func (s *Store) Hold(call Call) (caught <-chan struct{}, release func()) {
	f := s.set(fault{times: 1, way: held}, []Call{call})
	return f.caught, sync.OnceFunc(func() { close(f.mended) })
}

// CutListeners makes all Listen calls fail that are under way, as when their
// connection breaks.
func (s *Store) CutListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cut := range s.listeners {
		cut(ErrFault)
	}
}

// listening notes a Listen that is under way until the function it returns is
// called.
func (s *Store) listening(cut context.CancelCauseFunc) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.counts[Listen]
	s.listeners[number] = cut
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, number)
	}
}

// Mend ends all faults of the calls; of all calls if none is named.
func (s *Store) Mend(calls ...Call) {
	if len(calls) == 0 {
		calls = Calls()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range calls {
		s.mend(call)
	}
}

func (s *Store) mend(call Call) {
	if f := s.faults[call]; f != nil && f.way == hanging {
		close(f.mended)
	}
	delete(s.faults, call)
}

// Count is how many calls there were.
func (s *Store) Count(call Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[call]
}

// Wait returns when no delayed effect is still to come.
func (s *Store) Wait() { s.late.Wait() }

func (s *Store) set(template fault, calls []Call) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last *fault
	for _, call := range calls {
		s.mend(call)
		f := template
		f.mended, f.caught = make(chan struct{}), make(chan struct{})
		s.faults[call], last = &f, &f
	}
	return last
}

// next counts a call and returns what is wrong with it; nil if nothing.
func (s *Store) next(call Call) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[call]++
	f := s.faults[call]
	if f == nil || f.times == 0 {
		return nil
	}
	if f.times > 0 {
		f.times--
	}
	return f
}

// do makes a call as its fault commands.
func do[T any](ctx context.Context, s *Store, call Call, effect func(context.Context) (T, error)) (T, error) {
	var none T
	f := s.next(call)
	if f == nil {
		return effect(ctx)
	}
	switch f.way {
	case losing:
		if _, err := effect(ctx); err != nil {
			return none, err
		}
	case late:
		s.late.Go(func() {
			timer := time.NewTimer(f.after)
			defer timer.Stop()
			<-timer.C
			_, _ = effect(context.WithoutCancel(ctx)) // its caller is gone
		})
	case hanging:
		ctx, cancel := context.WithTimeout(ctx, QueryTimeout)
		defer cancel()
		select {
		case <-ctx.Done():
			return none, ctx.Err()
		case <-f.mended:
		}
	case held:
		close(f.caught)
		<-f.mended
		return effect(context.WithoutCancel(ctx))
	}
	return none, ErrFault
}

type nothing struct{}

func justDo(ctx context.Context, s *Store, call Call, effect func(context.Context) error) error {
	_, err := do(ctx, s, call, func(ctx context.Context) (nothing, error) { return nothing{}, effect(ctx) })
	return err
}
