package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	// While there is a backlog, claims are at least this far apart when they
	// would bring little: one large claim costs far less than many small ones. A
	// node that is nearly idle never waits.
	claimGap = 4 * time.Millisecond
	// From this rate on (jobs per second) jobs go through quickly: claims are
	// then far enough apart to bring claimWorth, though not more than longGap.
	quickRate  = 1000
	claimWorth = 300
	longGap    = 20 * time.Millisecond
	// Claims because of room under limits take at most one part in so many of the
	// time: each job that ends makes some.
	roomShare = 2
	// Beyond its free slots a group claims what it will start within this time
	// at its present rate, so that slots do not idle during a claim.
	claimAhead = 50 * time.Millisecond
)

// pace measures how fast a group starts jobs.
type pace struct {
	since   time.Time
	started int64
	rate    float64 // per second, smoothed
}

func (p *pace) measure(now time.Time, started int64) {
	const window = 10 * time.Millisecond
	elapsed := now.Sub(p.since)
	if elapsed < window {
		return
	}
	rate := float64(started-p.started) / elapsed.Seconds()
	p.rate += (rate - p.rate) * min(1, elapsed.Seconds()*10)
	p.since, p.started = now, started
}

// claimUntil keeps the group's slots filled until ctx ends.
func (g *group) claimUntil(ctx context.Context) {
	pace := pace{since: time.Now()}
	var last time.Time
	var cost time.Duration
	g.claims.run(ctx, func(ctx context.Context) (time.Duration, error) {
		g.resting.Store(forNobody)
		for ctx.Err() == nil {
			now := time.Now()
			pace.measure(now, g.started.Load())
			g.ahead.Store(int64(pace.rate * claimAhead.Seconds()))
			room, bytes := g.documents.room(g.room())
			if room <= 0 || g.life.engine.halted() {
				return 0, nil
			}
			if g.backlog.Load() {
				rest, whom := g.rest(room, pace.rate, cost, now.Sub(last))
				if rest > 0 {
					g.resting.Store(whom)
					return rest, nil
				}
			}
			last = now
			g.urgent.Store(false)
			g.backlog.Store(false) // a wake from here on is news
			claimed, err := g.claim(ctx, driver.Claim{Max: room, Bytes: bytes})
			cost = time.Since(now)
			if err != nil || claimed == room {
				g.urgent.Store(true)
				g.backlog.Store(true)
			}
			if err != nil || !g.backlog.Load() {
				return 0, err
			}
		}
		return 0, nil
	})
}

// rest is how long to wait with the next claim while there is a backlog, and who
// is not to interrupt that.
func (g *group) rest(room int, rate float64, cost, since time.Duration) (time.Duration, int32) {
	if rest := g.gap(room, rate) - since; rest > 0 {
		return rest, forAll
	}
	if g.urgent.Load() {
		return 0, forNobody
	}
	return max(claimGap, min(roomShare*cost, longGap)) - since, forRoom
}

// gap is how far apart claims are while there is a backlog.
func (g *group) gap(room int, rate float64) time.Duration {
	switch {
	case rate >= quickRate:
		worth := time.Duration(claimWorth / rate * float64(time.Second))
		return max(claimGap, min(worth, longGap))
	case room < g.worthwhile():
		return claimGap
	default:
		return 0
	}
}

// claimSuspects takes at most one crash suspect at a time into the node.
func (g *group) claimSuspects(ctx context.Context) {
	g.suspects.run(ctx, func(ctx context.Context) (time.Duration, error) {
		if g.room() <= 0 || g.life.engine.halted() || !g.life.solo.CompareAndSwap(false, true) {
			return 0, nil
		}
		claimed, err := g.claim(ctx, driver.Claim{Max: 1, Solo: true})
		if claimed == 0 {
			g.life.solo.Store(false)
		}
		return 0, err
	})
}

// claim asks the store once and takes over what it gives.
func (g *group) claim(ctx context.Context, ask driver.Claim) (int, error) {
	// The room that one claim has seen must not be given to another.
	defer g.life.claiming.enter(len(g.kinds) > 0)()
	ask.Node, ask.Scope, ask.Rooms = g.life.id, g.scope, g.rooms()
	// A claim that has been sent is waited for even at shutdown: abandoning it
	// would leave jobs leased to a node that does not know of them.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.life.options.Lease)
	defer cancel()
	begin := time.Now()
	jobs, err := g.life.store.Claim(ctx, ask)
	if err != nil {
		if errors.Is(err, fairlead.ErrLeaseLost) {
			g.life.beats.poke() // to find out for good
		} else {
			g.life.audits.poke() // it may have been committed all the same
		}
		return 0, err
	}
	g.life.options.Observer.Claimed(len(jobs), time.Since(begin))
	g.claimed.Add(int64(len(jobs)))
	g.documents.claimed(jobs)
	if g.life.starts.Add(jobs) {
		g.life.reporter.poke()
	}
	g.accept(jobs)
	return len(jobs), nil
}

// room is how many jobs the group may claim now.
func (g *group) room() int {
	// Runs that wait for transactions of callers do not count: they stop their own kinds
	// (see rooms).
	if g.life.settler.unsaved() > g.slots+g.life.options.QueueSize {
		return 0 // the store does not keep up: taking more would only pile up
	}
	if g.life.options.SlotsOnly { // what leases the jobs counts all that are not settled yet
		return min(g.slots-int(g.held.Load()), g.slots+g.life.options.QueueSize-int(g.held.Load())-g.life.unsaved(), g.life.options.ClaimBatch)
	}
	return min(g.target()-int(g.held.Load()), g.life.options.ClaimBatch)
}

// target is how many jobs the group wants to hold: one per slot and those that
// will start soon.
func (g *group) target() int {
	return g.slots + min(g.life.options.QueueSize, int(g.ahead.Load()))
}

// worthwhile is how much room makes a claim pay when there is a backlog.
func (g *group) worthwhile() int {
	return max(1, min(g.life.options.ClaimBatch, g.target()/4))
}

// rooms is what is left of the kinds that have a bound of their own or of which too many
// runs wait for transactions of callers, and of the shards of sweeps that the node may
// have.
func (g *group) rooms() map[string]int {
	shards := -1
	if len(g.shards) > 0 {
		shards = g.life.sweeps.room(time.Now())
	}
	crowded := append(g.life.replacer.crowded(), g.life.held.crowded()...)
	if len(g.kinds) == 0 && len(crowded) == 0 && shards < 0 {
		return nil
	}
	rooms := make(map[string]int, len(g.kinds))
	for kind, room := range g.kinds {
		rooms[kind] = max(0, room.max-int(room.held.Load()))
	}
	for _, kind := range crowded {
		rooms[kind] = 0
	}
	if shards < 0 {
		return rooms
	}
	for _, kind := range g.shards {
		if room, bounded := rooms[kind]; !bounded || room > shards {
			rooms[kind] = shards
		}
	}
	return rooms
}
