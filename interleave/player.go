package interleave

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// A performer is one of the two processes that act: a store behind a valve.
type performer struct {
	name   string
	valve  valve
	store  Store
	caller *sql.DB // for transactions of callers

	// State during an order.
	actor  *Actor
	cancel context.CancelFunc
	begun  bool
	ended  chan string // receives the actor's result
	held   *stop       // the round trip at which the actor stands
	result string
	done   bool
	dead   bool
	steps  int
	inert  []bool
	waited bool          // the actor has waited for a lock
	sent   time.Time     // when it was allowed to take its last step
	open   func() string // ends the caller's transaction that the actor has left open
}

// A take is what happened in one order.
type take struct {
	results [2]string
	steps   [2]int
	writes  [2]int    // transactions of each actor, if the valve counts them
	inert   [2][]bool // for each step, whether it changes and reads nothing
	blocked int       // how often an actor waited for a lock of the other
	between bool      // every switch came between two transactions
	state   state
	script  []string
	problem string // a broken rule, or empty
	drift   string // what a recount has corrected, or empty

	repeated bool // an actor was busy, and has repeated its operation at the end
}

// errStuck means that an actor neither ended nor waited for a lock.
var errStuck = errors.New("the actors are stuck")

// play lets both actors act in a scene in the given order.
func (s *Stage) play(ctx context.Context, sc *scene, actors [2]*Actor, order Order) (*take, error) {
	if order[0].Steps == together {
		return s.playTogether(ctx, sc, actors, order)
	}
	t := &take{between: true}
	for i, p := range s.performers {
		*p = performer{name: p.name, valve: p.valve, store: p.store, caller: p.caller, actor: actors[i], ended: make(chan string, 1)}
		p.valve.close()
	}
	defer func() {
		for _, p := range s.performers {
			p.abandon()
		}
	}()
	for _, turn := range order {
		if err := s.take(ctx, sc, t, turn); err != nil {
			return t, err
		}
		if p := s.performers[turn.Actor]; !p.done && (p.valve.inTransaction() || t.blocked > 0) {
			t.between = false
		}
	}
	if err := s.finish(ctx, sc, t); err != nil {
		return t, err
	}
	for i, p := range s.performers {
		t.results[i], t.steps[i], t.inert[i] = p.result, p.steps, p.inert
		if v, counts := p.valve.(*fileValve); counts {
			t.writes[i] = v.transactions()
		}
		if p.dead {
			t.results[i] = died
		}
	}
	return t, nil
}

// take carries out a turn. It ends early if the actor has to wait for a lock.
func (s *Stage) take(ctx context.Context, sc *scene, t *take, turn Turn) error {
	p := s.performers[turn.Actor]
	for n := 0; n < turn.Steps && !p.done; n++ {
		if turn.Death == DiesAfter && n == turn.Steps-1 {
			return s.kill(ctx, sc, t, p, lose)
		}
		blocked, err := s.step(ctx, sc, t, p, pass)
		if err != nil || blocked {
			return err
		}
	}
	if turn.Death == DiesBefore && !p.done {
		return s.kill(ctx, sc, t, p, refuse)
	}
	return nil
}

// kill ends an actor's process before the next round trip, or before its answer arrives.
func (s *Stage) kill(ctx context.Context, sc *scene, t *take, p *performer, how decision) error {
	ports := p.valve.ports()
	if how == lose {
		if _, err := s.step(ctx, sc, t, p, lose); err != nil {
			return err
		}
	} else if _, err := s.stand(ctx, sc, t, p); err != nil {
		return err
	}
	t.note(p)
	t.script = append(t.script, p.name+" dies")
	ports = append(ports, p.valve.ports()...)
	p.die()
	return s.awaitEnd(ctx, ports)
}

// awaitEnd waits until the server has noticed that connections are cut. It does not notice
// those that wait for a lock.
func (s *Stage) awaitEnd(ctx context.Context, ports []int) error {
	for begin := time.Now(); time.Since(begin) < patience.Limit; {
		connected, err := s.db.connected(ctx, s.db.admin)
		if err != nil {
			return err
		}
		waiting, err := s.db.waiting(ctx, s.db.admin)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(ports, func(port int) bool {
			return slices.Contains(connected, port) && !slices.Contains(waiting, port)
		}) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookAfter):
		}
	}
	return errStuck
}

// finish lets both actors end, whatever their order. A caller's transaction that stays open
// ends when the other actor has ended, or waits for it as long as its documentation says.
func (s *Stage) finish(ctx context.Context, sc *scene, t *take) error {
	for begin := time.Now(); !s.performers[0].done || !s.performers[1].done; {
		if time.Since(begin) > patience.Limit {
			return errStuck
		}
		for i, p := range s.performers {
			blocked := false
			for !p.done && !blocked {
				var err error
				if blocked, err = s.step(ctx, sc, t, p, pass); err != nil {
					return err
				}
			}
			if blocked && (p.actor.Waits || s.db.oneWriter()) {
				s.performers[1-i].endTransaction(t)
			}
		}
	}
	for _, p := range s.performers {
		p.endTransaction(t)
	}
	return nil
}

// endTransaction ends the transaction that the actor has left open, if any. While the actor
// has not ended, its valve would hold the commit.
func (p *performer) endTransaction(t *take) {
	if !p.done || p.open == nil {
		return
	}
	result := p.open()
	p.result, p.open = bare(result), nil
	t.script = append(t.script, p.name+" ends its transaction: "+told(result))
}

// step lets an actor take one round trip, and waits until it stands at the next one, has
// ended, or waits for a lock.
func (s *Stage) step(ctx context.Context, sc *scene, t *take, p *performer, d decision) (blocked bool, err error) {
	if blocked, err := s.stand(ctx, sc, t, p); blocked || err != nil || p.done {
		return blocked, err
	}
	for _, statement := range p.held.statements {
		t.script = append(t.script, p.name+": "+firstLine(statement))
	}
	gone := p.held.gone
	p.inert = append(p.inert, !slices.ContainsFunc(p.held.statements, func(s string) bool { return !inert(s) }))
	p.held.decision <- d
	p.held, p.sent = nil, time.Now()
	p.steps++
	if d == lose {
		return false, s.awaitCut(ctx, p, gone)
	}
	return s.stand(ctx, sc, t, p)
}

// stand waits until an actor stands at a round trip, has ended or waits for a lock.
func (s *Stage) stand(ctx context.Context, sc *scene, t *take, p *performer) (blocked bool, err error) {
	if p.done || p.held != nil {
		return false, nil
	}
	if !p.begun {
		p.begin(ctx, sc)
	}
	after := lookAfter
	look := time.NewTimer(after)
	defer look.Stop()
	begin := time.Now()
	for {
		select {
		case stop := <-p.valve.held():
			t.note(p)
			p.held = stop
			return false, nil
		case result := <-p.ended:
			p.result, p.done = bare(result), true
			p.valve.open()
			if p.result == busy && time.Since(p.sent) >= longWait {
				t.problem = p.name + " waited for longer than its documentation says"
			}
			t.note(p)
			t.script = append(t.script, p.name+" ends: "+told(result))
			return false, nil
		case <-look.C:
			waiting, err := s.waits(ctx, p)
			if err != nil {
				return false, err
			}
			// What an actor waits for while the other has nothing open is a loop of a store,
			// which ends soon.
			if waiting && s.other(p).acts() {
				if !p.waited {
					p.waited = true
					t.blocked++
				}
				t.script = append(t.script, p.name+" waits for a lock")
				return true, nil
			}
			if time.Since(begin) > patience.Limit {
				return false, errStuck
			}
			after = min(2*after, lookEvery)
			look.Reset(after)
		}
	}
}

// note adds the statements to the script that an actor has executed since it stood.
func (t *take) note(p *performer) {
	for _, statement := range p.valve.passed() {
		t.script = append(t.script, p.name+"   "+firstLine(statement))
	}
}

// longWait is the time after which an actor that gives up has waited until its query timeout,
// which begins before its last step.
const longWait = queryTimeout / 2

// callerConns is the number of idle connections that a caller keeps.
const callerConns = 2

// lookAfter is the time after which the player first looks for an actor that has not answered
// among the connections that wait for a lock. Later pauses double up to lookEvery.
const (
	lookAfter = 5 * time.Millisecond
	lookEvery = 50 * time.Millisecond
)

// waits reports whether one of the actor's connections waits for a lock.
func (s *Stage) waits(ctx context.Context, p *performer) (bool, error) {
	waiting, err := s.db.waiting(ctx, s.db.admin)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.valve.ports(), func(port int) bool { return slices.Contains(waiting, port) }), nil
}

// other returns the other performer.
func (s *Stage) other(p *performer) *performer {
	if s.performers[0] == p {
		return s.performers[1]
	}
	return s.performers[0]
}

// acts reports whether the actor may hold locks.
func (p *performer) acts() bool { return p.begun && (!p.done || p.open != nil || p.dead) }

// begin starts the actor.
func (p *performer) begin(ctx context.Context, sc *scene) {
	p.begun, p.sent = true, time.Now()
	ctx, p.cancel = context.WithCancel(asNode(ctx))
	ended := p.ended
	go func() {
		defer func() {
			if r := recover(); r != nil {
				ended <- fmt.Sprintf("error: panic: %v", r)
			}
		}()
		ended <- p.actor.Do(&cue{scene: sc, ctx: ctx, store: p.store, caller: p.caller, performer: p})
	}()
}

// awaitCut waits until the answer that the actor must not get has arrived.
func (s *Stage) awaitCut(ctx context.Context, p *performer, gone <-chan struct{}) error {
	for begin := time.Now(); time.Since(begin) < patience.Limit; {
		select {
		case <-gone:
			return nil
		case <-time.After(lookAfter):
			if waiting, err := s.waits(ctx, p); err != nil || waiting {
				return err
			}
		}
	}
	return errStuck
}

// die ends the process of an actor.
func (p *performer) die() {
	if p.cancel != nil {
		p.cancel()
	}
	p.valve.cut()
	if p.begun && !p.done {
		<-p.ended
	}
	p.caller.SetMaxIdleConns(0) // drops the cut connections
	p.caller.SetMaxIdleConns(callerConns)
	p.held, p.done, p.dead = nil, true, true
	p.valve.open()
}

// abandon ends whatever is left of an actor.
func (p *performer) abandon() {
	if p.begun && !p.done {
		p.die()
	}
	if p.cancel != nil {
		p.cancel()
	}
	p.valve.open()
}

// inert reports whether a statement neither changes nor reads anything that actors change, so
// that it does not matter whether the other actor acts before it or after it.
func inert(statement string) bool {
	for part := range strings.SplitSeq(statement, ";") {
		part = strings.ToLower(strings.TrimSpace(part))
		if part != "" && !slices.ContainsFunc(inertStatements, func(prefix string) bool { return strings.HasPrefix(part, prefix) }) && !clockOnly.MatchString(part) {
			return false
		}
	}
	return true
}

var (
	inertStatements = []string{"begin", "start transaction", "savepoint ", "release savepoint ", "set ", "select set_config("}
	// clockOnly reads the clock, which stands still.
	clockOnly = regexp.MustCompile(`^select \(select us from \S*test_clock\)$`)
)

// firstLine shortens a statement for a script.
func firstLine(statement string) string {
	const most = 160
	text := strings.Join(strings.Fields(statement), " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
