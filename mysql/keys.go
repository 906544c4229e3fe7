package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// keyOfJob is a key and the job to which it belongs.
type keyOfJob struct {
	jobKey
	id int64
}

// keysOf reads the keys that jobs give back when they end, with forever also those held
// until the jobs are removed. It also returns those of the jobs that have gates.
func (t *txn) keysOf(ctx context.Context, ids []int64, forever bool) (keys []keyOfJob, gated []place, err error) {
	var holders []placed
	err = eachOf(ctx, t.newest(), func(row *sql.Rows) error {
		var p placed
		err := row.Scan(&p.id, &p.lane, &p.key, &p.gate, &p.flags)
		holders = append(holders, p)
		return err
	}, t.sql.KeysOf, ids)
	if err != nil {
		return nil, nil, err
	}
	for i := range holders {
		p := &holders[i]
		if p.gate != 0 {
			gated = append(gated, place{p.gate, p.id})
		}
		if p.key == "" || p.flags&sqlstore.FlagKeyForever != 0 && !forever {
			continue
		}
		lane, err := t.laneKey(ctx, p.lane)
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, keyOfJob{jobKey{lane.Tenant, p.key}, p.id})
	}
	return keys, gated, nil
}

// freeKeys gives back the keys of jobs that have ended or are removed, with forever
// also those held forever. It returns those of the jobs that have gates. Jobs that a
// caller's transaction has enqueued itself are not among them: such a job passes its
// key on when it is replaced, and has no place at its gate yet.
func (t *txn) freeKeys(ctx context.Context, ids []int64, forever bool) (gated []place, err error) {
	keys, gated, err := t.keysOf(ctx, ids, forever)
	if err != nil {
		return nil, err
	}
	var owners map[jobKey]int64
	if forever {
		// Keys that were given back before may be another's by now, in a transaction that
		// has not ended: looking for such a row with a lock would wait for it.
		if owners, err = t.keysBy(ctx, t.sql.TakenKeys, keys); err != nil {
			return nil, err
		}
	}
	held := tuples{json: true}
	for _, key := range keys {
		if forever && owners[key.jobKey] != key.id {
			continue
		}
		held.add().str(key.tenant).str(key.key).int(key.id).end()
	}
	_, err = t.execRows(ctx, t.sql.FreeKeys, &held)
	return gated, err
}

// lockKeys locks the keys of jobs that are about to end or to be removed, and returns the
// jobs whose keys another transaction holds. A caller who enqueues a job under a taken
// key holds that key for as long as the transaction is open, and freeKeys would wait.
func (t *txn) lockKeys(ctx context.Context, ids []int64, forever bool) (held map[int64]bool, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys, _, err := t.keysOf(ctx, ids, forever)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	locked, err := t.keysBy(ctx, t.sql.LockFreeKeys, keys)
	if err != nil || len(locked) == len(keys) {
		return nil, err
	}
	there, err := t.keysBy(ctx, t.sql.TakenKeys, keys)
	held = map[int64]bool{}
	for _, key := range keys {
		owner, taken := there[key.jobKey]
		_, free := locked[key.jobKey]
		held[key.id] = taken && !free && (owner == key.id || !forever)
	}
	return held, err
}

// keysBy returns the keys that a statement finds, with the jobs that hold them.
func (t *txn) keysBy(ctx context.Context, statement string, keys []keyOfJob) (map[jobKey]int64, error) {
	var names tuples
	for _, key := range keys {
		names.add().str(key.tenant).str(key.key).end()
	}
	found := map[jobKey]int64{}
	err := t.eachRows(ctx, func(row *sql.Rows) error {
		var key keyOfJob
		err := row.Scan(&key.tenant, &key.key, &key.id)
		found[key.jobKey] = key.id
		return err
	}, statement, &names)
	return found, err
}

// passOverHeldKeys drops locked jobs that may end now and whose keys another transaction
// holds. Housekeeping comes back for them.
func (t *txn) passOverHeldKeys(ctx context.Context, jobs map[int64]*placed, mayEnd func(*placed) bool) error {
	var ids []int64
	for id, p := range jobs {
		if mayEnd(p) {
			ids = append(ids, id)
		}
	}
	held, err := t.lockKeys(ctx, ids, false)
	for id := range held {
		if held[id] {
			delete(jobs, id)
		}
	}
	return err
}
