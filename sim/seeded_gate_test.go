package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
)

var (
	errDrawn = fmt.Errorf("the seed lets this call fail: %w", fairlead.ErrUnavailable)
	errDead  = fmt.Errorf("the process has crashed: %w", fairlead.ErrUnavailable)
)

// A peer is a node or a caller. It has a connection of its own to the store.
type peer struct {
	name  string
	order int           // position among all processes
	skew  time.Duration // its clock minus the database's

	dead     bool      // whether the process has crashed; guarded by the gate
	resumeAt time.Time // end of its suspension; guarded by the gate
	illUntil time.Time // end of a period with a bad connection; guarded by the gate
}

// A call is a call of the store that waits at the gate.
type call struct {
	by    *peer
	name  string
	args  string
	tx    *lentTx // transaction of the process that the call belongs to, or nil
	exec  func() (outcome string, err error)
	sent  time.Time
	due   time.Time // not before this time
	fault fault
	drawn bool
	gone  bool       // its process does not wait for the answer any more
	reply chan error // capacity 1
}

// A gate admits the calls of all processes to the store, one after the other, in an order
// drawn from the seed. It draws only while all goroutines wait, so the scheduler does not
// influence the draw.
type gate struct {
	random *rand.Rand
	trace  *trace
	counts counts
	bell   chan struct{} // capacity 1: rung when a call arrives

	mu     sync.Mutex
	parked []*call
	calm   bool    // there are no more faults
	holder *lentTx // open transaction of a process, which excludes all other calls
}

func newGate(seed uint64, trace *trace, counts counts) *gate {
	return &gate{random: rand.New(rand.NewPCG(seed, 1)), trace: trace, counts: counts, bell: make(chan struct{}, 1)}
}

// pass waits until the call has been made, and returns the error of its answer.
func (g *gate) pass(ctx context.Context, c *call) error {
	c.sent, c.reply = time.Now(), make(chan error, 1)
	g.mu.Lock()
	if c.by.dead {
		g.mu.Unlock()
		return errDead
	}
	g.parked = append(g.parked, c)
	g.mu.Unlock()
	select {
	case g.bell <- struct{}{}:
	default:
	}
	select {
	case err := <-c.reply:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c.gone = true
	if c.fault != lateEffect {
		g.drop(c)
	}
	return fmt.Errorf("%s: outcome unknown: %w", c.name, ctx.Err())
}

func (g *gate) drop(c *call) {
	g.parked = slices.DeleteFunc(g.parked, func(other *call) bool { return other == c })
}

// step makes one call, if one may be made now, and reports whether it did.
func (g *gate) step() bool {
	synctest.Wait()
	c := g.next()
	if c == nil {
		return false
	}
	g.make(c)
	const shortest, longest = 50 * time.Microsecond, 2 * time.Millisecond
	time.Sleep(shortest + time.Duration(g.random.Int64N(int64(longest))))
	return true
}

// next takes the call that is made next.
func (g *gate) next() *call {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	slices.SortStableFunc(g.parked, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.by.order, b.by.order), cmp.Compare(a.name, b.name), cmp.Compare(a.args, b.args), a.sent.Compare(b.sent))
	})
	var ready []*call
	for _, c := range g.parked {
		if !c.drawn {
			c.drawn = true
			g.drawFault(c, now)
		}
		if !g.wakeOf(c).After(now) {
			ready = append(ready, c)
		}
	}
	if len(ready) == 0 {
		return nil
	}
	c := ready[g.random.IntN(len(ready))]
	g.drop(c)
	return c
}

// far is later than any simulation lasts.
var far = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// wakeOf returns the time from which a call may be made.
func (g *gate) wakeOf(c *call) time.Time {
	if g.holder != nil && g.holder != c.tx {
		return far
	}
	if !c.gone && c.by.resumeAt.After(c.due) {
		return c.by.resumeAt
	}
	return c.due
}

// make makes a call and answers it according to its fault.
func (g *gate) make(c *call) {
	if c.fault == failBefore {
		g.trace.add(c, "not made", nil)
		c.reply <- errDrawn
		return
	}
	outcome, err := c.exec()
	g.trace.add(c, outcome, err)
	switch {
	case c.gone:
		g.counts.add(string(lateEffect))
		return
	case c.fault == loseAnswer && err == nil:
		err = errDrawn
	case c.fault == slowAnswer:
		time.AfterFunc(g.drawPause(), func() { c.reply <- err })
		return
	}
	c.reply <- err
}

// idle waits until a call may be made, but not beyond a time.
func (g *gate) idle(until time.Time) {
	g.mu.Lock()
	for _, c := range g.parked {
		if at := g.wakeOf(c); at.Before(until) {
			until = at
		}
	}
	g.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.bell:
	}
}

// suspend lets no call of a process pass for a while.
func (g *gate) suspend(p *peer, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.resumeAt = time.Now().Add(d)
}

// sicken makes the connection of a process bad for a while.
func (g *gate) sicken(p *peer, d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.illUntil = time.Now().Add(d)
}

// kill makes a process disappear. Some of its calls are still on their way.
func (g *gate) kill(p *peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.dead = true
	var rest []*call
	for _, c := range g.parked {
		if c.by != p {
			rest = append(rest, c)
			continue
		}
		if !c.gone {
			c.reply <- errDead
		}
		const arrives = 3 // every third call still reaches the store
		if c.gone = true; c.tx == nil && g.random.IntN(arrives) == 0 {
			rest = append(rest, c)
		}
	}
	g.parked = rest
}

// hold makes a transaction exclude all other calls until it has ended.
func (g *gate) hold(tx *lentTx) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holder = tx
}

// unhold ends that.
func (g *gate) unhold(tx *lentTx) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holder == tx {
		g.holder = nil
	}
}

// held returns the transaction that excludes all other calls, or nil.
func (g *gate) held() *lentTx {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.holder
}

// alive reports whether a process has not crashed.
func (g *gate) alive(p *peer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !p.dead
}

// heal ends all faults.
func (g *gate) heal(processes []*peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calm = true
	for _, p := range processes {
		p.resumeAt, p.illUntil = time.Time{}, time.Time{}
	}
}

// through makes a call through the gate. The call gets times of the database's clock, and its
// process times of its own.
func through[A, R any](ctx context.Context, g *gate, c *call, args A, do func(context.Context, A) (R, error)) (R, error) {
	var result, none R
	c.args = render(args)
	args = shifted(args, c.by.skew)
	c.exec = func() (string, error) {
		var err error
		result, err = do(context.WithoutCancel(ctx), args)
		return render(result), err
	}
	if err := g.pass(ctx, c); err != nil {
		return none, err
	}
	return shifted(result, -c.by.skew), nil
}

// class returns what callers may distinguish of an error.
func class(err error) string {
	for _, known := range []error{
		fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit, fairlead.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
