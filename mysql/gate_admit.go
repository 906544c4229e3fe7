package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

const (
	// gatesPerAdmission is how many gates one transaction locks.
	gatesPerAdmission = 50
	// jobsPerGate is how many jobs of a gate one transaction admits, to keep it short.
	jobsPerGate = 100
)

// admit admits as many parked jobs as the gates have places for. It is called after the
// commit of the transaction that posted them to gate_news: of all such transactions,
// the last one to lock the gate sees what the others have done.
func (s *Store) admit(ctx context.Context, gates gateSet) error {
	for chunk := range slices.Chunk(gates.sorted(), gatesPerAdmission) {
		for left := chunk; len(left) > 0; {
			var err error
			if left, err = s.admitAt(ctx, left, (*txn).lockGates); err != nil {
				return err
			}
		}
	}
	return nil
}

// admitPosted admits jobs at the gates that a committed transaction posted to
// gate_news. A failure is ignored: the transaction's work is committed and the rows
// stay, so Promote admits.
func (t *txn) admitPosted(ctx context.Context) {
	posted := t.posted
	t.posted = nil
	_ = t.admit(ctx, posted)
}

// gateLocker locks gates and returns those it could lock.
type gateLocker func(t *txn, ctx context.Context, gates []int64) ([]int64, error)

// lockGates locks gates and waits for transactions that have locked them.
func (t *txn) lockGates(ctx context.Context, gates []int64) ([]int64, error) {
	var wanted tuples
	for _, gate := range gates {
		wanted.add().int(gate).end()
	}
	return gates, t.insert(ctx, t.sql.LockGates, &wanted)
}

// lockIdleGates locks those gates that no transaction has locked.
func (t *txn) lockIdleGates(ctx context.Context, gates []int64) (idle []int64, err error) {
	err = t.eachOf(ctx, collect(&idle), t.sql.LockIdleGates, gates)
	return idle, err
}

// admitAt admits jobs at gates in one transaction, and returns the gates that have more
// jobs to admit.
func (s *Store) admitAt(ctx context.Context, gates []int64, lock gateLocker) (unfinished []int64, err error) {
	err = s.inTx(ctx, "admit", func(ctx context.Context, t *txn) error {
		var version int64
		if _, err := t.one(ctx, []any{&version}, t.sql.ShareLimits); err != nil {
			return err
		}
		config, err := t.limitsOfVersion(ctx, version)
		if err != nil {
			return err
		}
		locked, err := lock(t, ctx, gates)
		if err != nil || len(locked) == 0 {
			return err
		}
		a := &admission{txn: t, config: config}
		unfinished, err = a.run(ctx, locked)
		return err
	})
	return unfinished, err
}

// admission is a transaction that has locked gates. No other transaction admits there,
// and the limits cannot change.
type admission struct {
	*txn
	config *limitConfig
	gates  map[int64]*gate
}

// gate is a gate as an admission sees it.
type gate struct {
	id    int64
	taken int     // places taken
	room  int     // free places, if a job is parked
	asked int     // jobs that the admission wants to admit
	got   int     // jobs that it could lock
	news  []int64 // ids of its gate_news rows that the admission has read
}

// run admits jobs. It deletes gate_news rows only where nothing is left to do: a job
// that another transaction has locked may stay parked, and that transaction posts
// nothing.
func (a *admission) run(ctx context.Context, ids []int64) (unfinished []int64, err error) {
	a.gates = make(map[int64]*gate, len(ids))
	for _, id := range ids {
		a.gates[id] = &gate{id: id}
	}
	if err := a.readNews(ctx, ids); err != nil {
		return nil, err
	}
	if err := a.look(ctx, ids); err != nil {
		return nil, err
	}
	if err := a.admitFirst(ctx, ids); err != nil {
		return nil, err
	}
	busy, err := a.busy(ctx, ids)
	if err != nil {
		return nil, err
	}
	var seen, unused []int64
	for _, id := range ids {
		g := a.gates[id]
		switch {
		case g.got == g.asked && g.asked < g.room:
			unfinished = append(unfinished, id)
			continue
		case slices.Contains(busy, id):
			continue
		}
		seen = append(seen, g.news...)
		if g.taken+g.got == 0 {
			unused = append(unused, id)
		}
	}
	dropped, err := a.execIDs(ctx, a.sql.DropNews, seen)
	if err := checkHits(len(seen), dropped, err); err != nil {
		return nil, err
	}
	_, err = a.execIDs(ctx, a.sql.DropGates, unused)
	return unfinished, err
}

func (a *admission) readNews(ctx context.Context, ids []int64) error {
	return a.eachOf(ctx, func(row *sql.Rows) error {
		var id, gate int64
		err := row.Scan(&id, &gate)
		a.gates[gate].news = append(a.gates[gate].news, id)
		return err
	}, a.sql.NewsOf, ids)
}

// look finds out how many jobs the gates can admit.
func (a *admission) look(ctx context.Context, ids []int64) error {
	first := map[int64]int32{} // lanes
	err := a.states(ctx, ids, func(id int64, taken int, lane sql.NullInt32) {
		a.gates[id].taken = taken
		if lane.Valid {
			first[id] = lane.Int32
		}
	})
	if err != nil {
		return err
	}
	for id, lane := range first {
		key, err := a.laneKey(ctx, lane)
		if err != nil {
			return err
		}
		g := a.gates[id]
		g.room = max(0, a.config.Places(key.Kind)-g.taken)
		g.asked = min(g.room, jobsPerGate)
	}
	return nil
}

// states reads how many places of gates are taken, and the lane of the first parked
// job.
func (t *txn) states(ctx context.Context, ids []int64, each func(id int64, taken int, lane sql.NullInt32)) error {
	if len(ids) == 0 {
		return nil
	}
	questions := make([]string, len(ids))
	for i, id := range ids {
		questions[i] = fill(t.sql.GateState, "gate_id", decimal(id))
	}
	return t.each(ctx, func(row *sql.Rows) error {
		var id int64
		var taken int
		var lane sql.NullInt32
		if err := row.Scan(&id, &taken, &lane); err != nil {
			return err
		}
		each(id, taken, lane)
		return nil
	}, strings.Join(questions, " union all "))
}

// admitFirst makes parked jobs ready and gives them their places.
func (a *admission) admitFirst(ctx context.Context, ids []int64) error {
	jobs, err := a.lockFirst(ctx, ids)
	if err != nil {
		return err
	}
	var ready, admitted tuples
	for _, p := range jobs {
		a.gates[p.gate].got++
		ready.add().ints(int64(p.lane), solo(p.crashes), p.turn, p.startBy, p.id, p.attempt, p.failures, p.crashes).end()
		admitted.add().ints(p.gate, p.id).end()
		a.wakes.addWork(p.lane)
	}
	if err := a.leaveParked(ctx, jobs); err != nil {
		return err
	}
	if err := a.insert(ctx, a.sql.ToReady, &ready); err != nil {
		return err
	}
	return a.insert(ctx, a.sql.ToAdmitted, &admitted)
}

// lockFirst locks the first parked jobs of the gates, as many as the gates can admit.
func (a *admission) lockFirst(ctx context.Context, ids []int64) (jobs []*placed, err error) {
	var questions []string
	for _, id := range ids {
		if asked := a.gates[id].asked; asked > 0 {
			questions = append(questions, fill(a.sql.LockFirstParked, "gate_id", decimal(id), "limit", decimal(asked)))
		}
	}
	if len(questions) == 0 {
		return nil, nil
	}
	err = a.each(ctx, func(row *sql.Rows) error {
		p := &placed{}
		jobs = append(jobs, p)
		return row.Scan(&p.gate, &p.turn, &p.startBy, &p.id, &p.lane, &p.attempt, &p.failures, &p.crashes)
	}, strings.Join(questions, " union all "))
	return jobs, err
}

// busy returns the gates with free places and parked jobs that another transaction has
// locked.
func (a *admission) busy(ctx context.Context, ids []int64) (busy []int64, err error) {
	short := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return a.gates[id].got == a.gates[id].asked })
	err = a.states(ctx, short, func(id int64, _ int, lane sql.NullInt32) {
		if lane.Valid {
			busy = append(busy, id)
		}
	})
	return busy, err
}
