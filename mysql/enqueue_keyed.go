package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// jobKey is a key and its tenant.
type jobKey struct{ tenant, key string }

func keyOf(job *fairlead.Job) jobKey { return jobKey{job.Tenant, job.Key} }

func (k jobKey) compare(other jobKey) int {
	return cmp.Or(cmp.Compare(k.tenant, other.tenant), cmp.Compare(k.key, other.key))
}

// enqueueKeyed stores jobs that have keys. Jobs of one call that share a key are
// duplicates of each other: it stores them in waves of one job per key.
func (t *txn) enqueueKeyed(ctx context.Context, jobs []*fairlead.Job, ids []int64, positions []int) error {
	for len(positions) > 0 {
		var wave, rest []int
		seen := make(map[jobKey]struct{}, len(positions))
		for _, i := range positions {
			key := keyOf(jobs[i])
			if _, double := seen[key]; double {
				rest = append(rest, i)
				continue
			}
			seen[key] = struct{}{}
			wave = append(wave, i)
		}
		if err := t.enqueueWave(ctx, jobs, ids, wave); err != nil {
			return err
		}
		positions = rest
	}
	return nil
}

// enqueueWave stores jobs whose keys are distinct.
func (t *txn) enqueueWave(ctx context.Context, jobs []*fairlead.Job, ids []int64, wave []int) error {
	holders, err := t.takeKeys(ctx, jobs, ids, wave)
	if err != nil {
		return err
	}
	stored := make([]int, 0, len(wave))
	for _, i := range wave {
		job := jobs[i]
		holder := holders[keyOf(job)]
		switch {
		case holder == ids[i]:
			stored = append(stored, i)
		case job.OnDuplicate == fairlead.KeepDuplicate:
			ids[i] = holder
		case job.OnDuplicate == fairlead.ReplaceDuplicate:
			if err := t.replace(ctx, holder, job, ids[i]); err != nil {
				return err
			}
			stored = append(stored, i)
		default:
			return driver.KeyTaken(job.Tenant, job.Key, holder)
		}
	}
	return t.store(ctx, jobs, ids, stored)
}

// takeKeys tries to give each job its key and returns which job holds it now.
func (t *txn) takeKeys(ctx context.Context, jobs []*fairlead.Job, ids []int64, wave []int) (map[jobKey]int64, error) {
	holders := make(map[jobKey]int64, len(wave))
	note := func(row *sql.Rows) error {
		var key jobKey
		var holder int64
		if err := row.Scan(&key.tenant, &key.key, &holder); err != nil {
			return err
		}
		holders[key] = holder
		return nil
	}
	ordered := slices.SortedFunc(slices.Values(wave), func(a, b int) int { return keyOf(jobs[a]).compare(keyOf(jobs[b])) })
	for chunk := range slices.Chunk(ordered, chunkTuples) {
		var wanted, names tuples
		for _, i := range chunk {
			wanted.add().str(jobs[i].Tenant).str(jobs[i].Key).int(ids[i]).end()
			names.add().str(jobs[i].Tenant).str(jobs[i].Key).end()
		}
		if err := t.insert(ctx, t.sql.TakeKeys, &wanted); err != nil {
			return nil, err
		}
		if err := t.eachRows(ctx, note, t.sql.KeyHolders, &names); err != nil {
			return nil, err
		}
	}
	return holders, nil
}

// replace cancels the holder of a key, if it has not started, and passes the key on.
func (t *txn) replace(ctx context.Context, holder int64, job *fairlead.Job, id int64) error {
	p, err := t.locate(ctx, holder)
	if err != nil {
		return err
	}
	if !verdict.Pending(p.state) {
		return driver.KeyTaken(job.Tenant, job.Key, holder)
	}
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	m := moves{now: now}
	next := verdict.ReplacedBy(id)
	m.become(p, &next)
	m.vacate(p)
	if err := t.write(ctx, &m); err != nil {
		return err
	}
	return t.passKey(ctx, keyOf(job), id)
}

// passKey passes a locked key to another job.
func (t *txn) passKey(ctx context.Context, key jobKey, id int64) error {
	return t.must(ctx, 1, fill(t.sql.PassKey, "id", decimal(id), "tenant_name", literal(key.tenant), "key_name", literal(key.key)))
}

// retakeKey gives a reopened job its key again.
func (t *txn) retakeKey(ctx context.Context, p *placed) error {
	if p.key == "" {
		return nil
	}
	lane, err := t.laneKey(ctx, p.lane)
	if err != nil {
		return err
	}
	job := &fairlead.Job{Tenant: lane.Tenant, Key: p.key}
	holders, err := t.takeKeys(ctx, []*fairlead.Job{job}, []int64{p.id}, []int{0})
	if err != nil {
		return err
	}
	if holder := holders[keyOf(job)]; holder != p.id {
		return driver.KeyTaken(job.Tenant, job.Key, holder)
	}
	return nil
}
