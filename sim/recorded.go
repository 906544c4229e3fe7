package sim

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// recorded is a store that records the requests of a node and the answers.
type recorded struct {
	driver.Store
	to *Recorder
}

// Join records the grant with the time before the call, because the time by the database's
// clock is unknown.
func (s *recorded) Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error) {
	before, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	sent := InstantOf(time.Now())
	id, err := s.Store.Join(ctx, node, lease)
	if err == nil {
		s.to.Note(Event{What: Granted, Node: id, DB: InstantOf(before), Sent: sent})
	}
	return id, err
}

// Beat records the start of the lease according to the answer.
func (s *recorded) Beat(ctx context.Context, beat driver.Beat) (driver.BeatAnswer, error) {
	sent := InstantOf(time.Now())
	answer, err := s.Store.Beat(ctx, beat)
	switch {
	case err == nil:
		s.to.Note(Event{What: Granted, Node: beat.Node, DB: InstantOf(answer.Now), Sent: sent})
	case !errors.Is(err, fairlead.ErrLeaseLost):
		s.to.Note(Event{What: Unconfirmed, Node: beat.Node})
	}
	return answer, err
}

// Leave records the event before the node leaves.
func (s *recorded) Leave(ctx context.Context, node fairlead.NodeID) error {
	s.to.Note(Event{What: Leaving, Node: node})
	return s.Store.Leave(ctx, node)
}

// Claim records each lease.
func (s *recorded) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	sent := InstantOf(time.Now())
	jobs, err := s.Store.Claim(ctx, claim)
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		s.to.Note(Event{What: Claimed, Node: job.Node, Job: job.ID, Fence: job.Fence, Attempt: job.Attempt, Solo: job.Solo, DB: InstantOf(job.StartedAt), Sent: sent})
	}
	return jobs, nil
}

// Settle records each settlement before the call and its answer after.
func (s *recorded) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	for _, x := range settlements {
		s.to.Note(Event{What: Asked, Job: x.ID, Fence: x.Fence, Move: x.Move})
	}
	settled, err := s.Store.Settle(ctx, settlements)
	if err != nil {
		return nil, err
	}
	for i, answer := range settled {
		if answer == fairlead.SettledHeld {
			continue // nothing was changed, and the node will repeat it
		}
		x := settlements[i]
		result := map[fairlead.Settled]string{fairlead.SettledAsAsked: OK, fairlead.SettledCancelled: Cancelled, fairlead.SettledLost: Lost}[answer]
		s.to.Note(Event{What: Settled, Job: x.ID, Fence: x.Fence, Move: x.Move, Result: result})
	}
	return settled, nil
}

// Save records whether the progress counted, or nothing if that is unknown.
func (s *recorded) Save(ctx context.Context, save fairlead.Save) error {
	e := Event{What: Saved, Job: save.ID, Fence: save.Fence, Sent: InstantOf(time.Now())}
	err := s.Store.Save(ctx, save)
	switch {
	case err == nil:
		e.Result = OK
	case errors.Is(err, fairlead.ErrLeaseLost):
		e.Result = Lost
	default:
		return err
	}
	s.to.Note(e)
	return err
}

// Reap records the start of a reap, and its result.
func (s *recorded) Reap(ctx context.Context, reap driver.Reap) (driver.Reaped, error) {
	e := Event{What: Reaped, Node: reap.By, Sent: InstantOf(time.Now())}
	s.to.Note(Event{What: Reaping, Node: reap.By})
	reaped, err := s.Store.Reap(ctx, reap)
	if reaped != (driver.Reaped{}) { // possibly before an error
		e.Nodes, e.Jobs = reaped.Nodes, reaped.Jobs+reaped.Poisoned+reaped.Cancelled
		s.to.Note(e)
	}
	return reaped, err
}
