package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// settleChunk is how many settlements one transaction takes at most.
const settleChunk = 2000

// Settle moves running jobs to the states that their handlers' results require.
func (s *Store) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if err := verdict.CheckMoves(settlements); err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	settled := make([]fairlead.Settled, 0, len(settlements))
	for chunk := range slices.Chunk(settlements, settleChunk) {
		moves := newMoves(chunk)
		answers, err := inTx(ctx, s, "settle", func(t *txn) ([]settledMove, error) { return t.settle(moves) })
		if err != nil {
			return nil, err
		}
		settled = append(settled, hand(answers, chunk)...)
	}
	return settled, nil
}

// move is a settlement as it is going to be stored: a copy, as the caller's
// own may change once the caller has given up waiting.
type move struct {
	fairlead.Settlement
	replacement []newJob // a copy of the job of Replace
	refused     error    // why Replace can never be stored
}

// settledMove is what became of a move.
type settledMove struct {
	settled     fairlead.Settled
	replacement int64 // id of the job of Replace, if it was stored
}

func newMoves(settlements []fairlead.Settlement) []move {
	moves := make([]move, len(settlements))
	for i, s := range settlements {
		m := &moves[i]
		m.Settlement = s
		m.Output, m.Memo, m.Progress = slices.Clone(s.Output), slices.Clone(s.Memo), slices.Clone(s.Progress)
		if verdict.Replaces(&s) {
			job := *s.Replace
			m.refused = envelope.NormalizeJobs([]*fairlead.Job{&job})
			m.replacement = newJobs([]*fairlead.Job{&job})
		}
	}
	return moves
}

// hand gives the answers, and the ids of what was stored, to the caller.
func hand(answers []settledMove, settlements []fairlead.Settlement) []fairlead.Settled {
	settled := make([]fairlead.Settled, len(answers))
	for i, a := range answers {
		settled[i] = a.settled
		if a.replacement != 0 {
			settlements[i].Replace.ID = a.replacement
		}
	}
	return settled
}

// settle moves many jobs: the plain successes together, the others one by one.
// In a caller's transaction all go one by one: each is told whether it was made
// in it.
func (t *txn) settle(moves []move) ([]settledMove, error) {
	settled := make([]settledMove, len(moves))
	successes := map[int64][]int{} // fence → positions
	for i := range moves {
		m := &moves[i]
		if verdict.Succeeds(&m.Settlement) && m.Fence != 0 && !t.callers {
			successes[m.Fence] = append(successes[m.Fence], i)
			continue
		}
		var err error
		if settled[i], err = t.settleOne(m); err != nil {
			return nil, fmt.Errorf("job %d: %w", m.ID, err)
		}
	}
	for fence, positions := range successes {
		if err := t.succeed(fence, moves, positions, settled); err != nil {
			return nil, err
		}
	}
	return settled, nil
}

// succeed ends many jobs that are leased under one fence.
func (t *txn) succeed(fence int64, moves []move, positions []int, settled []settledMove) error {
	ids := make([]int64, len(positions))
	for n, i := range positions {
		ids[n] = moves[i].ID
	}
	list := idList(ids)
	extras, err := t.extrasOf(fence, list, moves, positions)
	if err != nil {
		return err
	}
	hit, err := t.exec(t.sql.Succeed, t.now, list, fence)
	if err != nil {
		return err
	}
	if hit > 0 {
		t.freed()
		if err := t.must(hit, t.sql.StopMany, list, fence); err != nil {
			return err
		}
	}
	if err := t.addExtras(extras); err != nil {
		return err
	}
	if hit == int64(len(ids)) {
		return nil
	}
	// Some had moved before: by this very fence, if the answer was lost.
	done, err := t.list(t.sql.DoneBy, list, fence)
	if err != nil {
		return err
	}
	slices.Sort(done)
	for _, i := range positions {
		if _, found := slices.BinarySearch(done, moves[i].ID); !found {
			settled[i].settled = verdict.Missed(&moves[i].Settlement, "", t.callers)
		}
	}
	return nil
}

// extrasOf lists the successes that bring more than themselves and are going
// to count.
func (t *txn) extrasOf(fence int64, list string, moves []move, positions []int) ([]*move, error) {
	rich := func(i int) bool {
		m := &moves[i]
		return m.FreeKey || m.Output != nil || m.Memo != nil || m.Progress != nil
	}
	if !slices.ContainsFunc(positions, rich) {
		return nil, nil
	}
	held, err := t.list(t.sql.HeldOf, list, fence)
	if err != nil {
		return nil, err
	}
	counts := make(map[int64]bool, len(held))
	for _, id := range held {
		counts[id] = true
	}
	var extras []*move
	for _, i := range positions {
		if m := &moves[i]; counts[m.ID] && rich(i) {
			extras = append(extras, m)
			counts[m.ID] = false // of two for one job the first counts
		}
	}
	return extras, nil
}

func (t *txn) addExtras(extras []*move) error {
	var keys []int64
	for _, m := range extras {
		if m.FreeKey {
			keys = append(keys, m.ID)
		}
		if len(m.Output) > 0 {
			if err := t.must(1, t.sql.SetOutput, string(m.Output), m.ID); err != nil {
				return err
			}
		}
		if err := t.keep(m.ID, m.Memo, m.Progress); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return nil
	}
	list := idList(keys)
	if _, err := t.exec(t.sql.FreeKeys, list); err != nil {
		return err
	}
	return t.giveBackMany(list)
}

// settleOne moves one running job.
func (t *txn) settleOne(m *move) (settledMove, error) {
	p, err := t.locate(m.ID)
	if errors.Is(err, fairlead.ErrNotFound) {
		p, err = &placed{id: m.ID}, nil
	}
	if err != nil {
		return settledMove{}, err
	}
	if !verdict.Current(&m.Settlement, p.state, p.fence) {
		end, err := t.endBy(p, m.Fence)
		return settledMove{settled: verdict.Missed(&m.Settlement, end, t.callers)}, err
	}
	answer, err := p.earlyAnswer()
	if err != nil {
		return settledMove{}, err
	}
	s := verdict.Early(&m.Settlement, answer)
	if err := t.keep(p.id, s.Memo, s.Progress); err != nil {
		return settledMove{}, err
	}
	if verdict.Replaces(s) {
		return t.replaceOne(p, m)
	}
	next, settled := verdict.Settle(s, p.wished())
	return settledMove{settled: settled}, t.become(p, &next)
}

// endBy is the state in which a fence ended a job, empty if it did not. In a caller's
// transaction no end counts, and none is looked for.
func (t *txn) endBy(p *placed, fence int64) (fairlead.State, error) {
	if t.callers || p.fence != fence {
		return "", nil
	}
	done, err := t.list(t.sql.DoneBy, idList([]int64{p.id}), fence)
	if err != nil || len(done) == 0 {
		return "", err
	}
	return p.state, nil
}
