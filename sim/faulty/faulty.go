// Package faulty provides a store that fails on command: before a call takes effect, after
// it takes effect so that only its answer is lost, or by not answering. It wraps a real
// store, which handles everything else.
package faulty

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// ErrFault is the error of a call that fails on command.
var ErrFault = fmt.Errorf("fault on command: %w", fairlead.ErrUnavailable)

// A Call names a method of the store that can fail on command.
type Call string

// Calls made by nodes.
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

// Calls returns all calls.
func Calls() []Call {
	return []Call{Join, Beat, Leave, Claim, Settle, Save, Held, Listen, Promote, Reap, Expire, Prune, Lived}
}

// Always makes a fault last until Mend is called.
const Always = -1

// A Store is a store with faults. It has none at first.
type Store struct {
	driver.Store

	mu     sync.Mutex
	faults map[Call]*fault
	counts map[Call]int
	late   sync.WaitGroup // pending delayed effects

	listeners map[int]context.CancelCauseFunc // active Listen calls, by the number of the call
}

// fault is the fault of the next calls of one method.
type fault struct {
	times  int // Always, or the number of calls left
	way    way
	after  time.Duration // for late
	mended chan struct{} // for hanging and held: closed by Mend or Release
	caught chan struct{} // for held: closed when the call arrives
}

type way int

const (
	failing way = iota // no effect, then an error
	losing             // effect, then an error
	late               // an error, then the effect
	hanging            // no effect and no answer until the context ends
	held               // waits for Release, then continues
)

// New wraps a store.
func New(store driver.Store) *Store {
	return &Store{Store: store, faults: map[Call]*fault{}, counts: map[Call]int{}, listeners: map[int]context.CancelCauseFunc{}}
}

// Fail makes the next calls fail without effect.
func (s *Store) Fail(times int, calls ...Call) { s.set(fault{times: times, way: failing}, calls) }

// LoseAnswer makes the next calls take effect and then fail.
func (s *Store) LoseAnswer(times int, calls ...Call) { s.set(fault{times: times, way: losing}, calls) }

// Delay makes the next calls fail immediately and take effect only after the given time.
func (s *Store) Delay(after time.Duration, times int, calls ...Call) {
	s.set(fault{times: times, way: late, after: after}, calls)
}

// QueryTimeout is the timeout after which a hanging call fails, as in real stores.
const QueryTimeout = 30 * time.Second

// Hang makes the next calls wait without effect until their context ends, QueryTimeout has
// passed, or Mend makes them fail.
func (s *Store) Hang(times int, calls ...Call) { s.set(fault{times: times, way: hanging}, calls) }

// Hold makes the next call wait before it takes effect, even if its context ends. caught is
// closed when the call arrives; release lets it continue.
func (s *Store) Hold(call Call) (caught <-chan struct{}, release func()) {
	f := s.set(fault{times: 1, way: held}, []Call{call})
	return f.caught, sync.OnceFunc(func() { close(f.mended) })
}

// CutListeners makes all active Listen calls fail, as if their connection was lost.
func (s *Store) CutListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cut := range s.listeners {
		cut(ErrFault)
	}
}

// listening registers an active Listen until over is called.
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

// Mend ends all faults of the given calls, or of all calls if none are given.
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

// Count returns the number of calls of a method.
func (s *Store) Count(call Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[call]
}

// Wait waits until no delayed effect is pending.
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

// next counts a call and returns its fault, or nil.
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

// do makes a call according to its fault.
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
			_, _ = effect(context.WithoutCancel(ctx)) // the caller has returned
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
