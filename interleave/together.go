package interleave

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/patience"
)

// together is the number of steps of a turn that shares its first transaction with the next
// turn, because the store has one writer, which runs all waiting requests in one transaction.
const together = -1

// grouped returns the orders in which two operations share a transaction. They act in one
// process, and their requests reach the writer one after the other.
func grouped() [2]Order {
	return [2]Order{
		{{Actor: 0, Steps: together}, {Actor: 1, Steps: together}},
		{{Actor: 1, Steps: together}, {Actor: 0, Steps: together}},
	}
}

// groups reports whether a store can group the transactions of a pair.
func (s *Stage) groups(p Pair, serially [2]*take) bool {
	return s.db.oneWriter() && !p.Actors[0].Calls && !p.Actors[1].Calls && serially[0].writes[0] > 0 && serially[0].writes[1] > 0
}

// exploreGroups plays the orders in which both operations share a transaction. It returns the
// takes in which they did.
func (s *Stage) exploreGroups(ctx context.Context, pair Pair, serially [2]*take) (takes []*take, orders []Order, err error) {
	if !s.groups(pair, serially) {
		return nil, nil, nil
	}
	for i, order := range grouped() {
		t, err := s.playGrouped(ctx, pair, order, serially[i])
		if err != nil {
			return nil, nil, err
		}
		if t != nil {
			takes, orders = append(takes, t), append(orders, order)
		}
	}
	return takes, orders, nil
}

// playGrouped plays an order until both operations shared a transaction, or returns nil if they
// never do.
func (s *Stage) playGrouped(ctx context.Context, pair Pair, order Order, serially *take) (*take, error) {
	const tries = 4
	s.arrival = lookAfter / 4
	for range tries {
		t, err := s.Play(ctx, pair.Subject, pair.Actors, order)
		if err != nil {
			return nil, err
		}
		if t.writes[0] < serially.writes[0]+serially.writes[1] {
			// What an operation does in its other transactions may come before or after.
			t.between = serially.writes[0] > 1 || serially.writes[1] > 1
			return t, nil
		}
		s.arrival *= 4
	}
	return nil, nil
}

// playTogether keeps the writer of one process busy until the requests of both actors have
// arrived there.
func (s *Stage) playTogether(ctx context.Context, sc *scene, actors [2]*Actor, order Order) (*take, error) {
	t := &take{}
	p := s.performers[0]
	v := p.valve.(*fileValve)
	v.close()
	defer v.open()
	ctx, cancel := context.WithCancel(asNode(ctx))
	defer cancel()

	busyWith := make(chan error, 1)
	go func() { busyWith <- p.store.Operate(ctx, 1, fairlead.Operation{Op: fairlead.OpCancel}) }() // of a job that does not exist
	var first *stop
	select {
	case first = <-v.held():
	case err := <-busyWith:
		return t, err
	}

	var ended [2]chan string
	for _, turn := range order {
		actor, answers := actors[turn.Actor], make(chan string, 1)
		ended[turn.Actor] = answers
		go func() { answers <- actor.Do(&cue{scene: sc, ctx: ctx, store: p.store, caller: p.caller}) }()
		for arrived := time.After(s.arrival); arrived != nil; {
			select {
			case read := <-v.held():
				read.decision <- pass
				arrived = time.After(s.arrival)
			case <-arrived:
				arrived = nil
			}
		}
	}
	first.decision <- pass
	v.open()
	<-busyWith
	for i := range ended {
		select {
		case result := <-ended[i]:
			t.results[i] = bare(result)
			t.script = append(t.script, s.performers[i].name+" ends: "+told(result))
		case <-time.After(patience.Limit):
			return t, errStuck
		}
	}
	t.note(p)
	t.writes[0] = v.transactions() - 1
	return t, nil
}
