package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

type jobKey struct {
	tenant, key string
}

// enqueueKeyed stores jobs of which some have keys, in its own transaction.
func (s *Store) enqueueKeyed(ctx context.Context, fresh *newJobs) error {
	ctx = sqlstore.MayWait(ctx)
	if len(fresh.jobs) == 1 {
		// Nearly always the key is free, and one statement is enough.
		stored, err := s.storeKeyed(ctx, plainRunner{s}, fresh)
		if err != nil || len(stored) == 1 {
			return err
		}
	}
	ids := slices.Clone(fresh.ids)
	return s.inTx(ctx, func(ctx context.Context, r runner) error {
		copy(fresh.ids, ids) // as they were before the try that was rolled back
		fresh.left = nil
		return s.enqueueIn(ctx, r, fresh)
	})
}

// enqueueIn stores jobs inside a transaction. After an error the transaction
// must be rolled back.
func (s *Store) enqueueIn(ctx context.Context, r runner, fresh *newJobs) error {
	var plain []int
	var waves [][]int // the n-th jobs of each key: duplicates within one call are stored one after the other
	seen := map[jobKey]int{}
	for i, job := range fresh.jobs {
		if fresh.refused[i] != nil {
			continue
		}
		if job.Key == "" {
			plain = append(plain, i)
			continue
		}
		wave := seen[keyOf(job)]
		seen[keyOf(job)]++
		if wave == len(waves) {
			waves = append(waves, nil)
		}
		waves[wave] = append(waves[wave], i)
	}
	for _, wave := range waves {
		if err := s.enqueueWave(ctx, r, fresh, wave); err != nil {
			return err
		}
	}
	if len(plain) == 0 {
		return nil
	}
	return r.run(ctx, fresh.part(plain).plainCall(s))
}

func keyOf(job *fairlead.Job) jobKey { return jobKey{job.Tenant, job.Key} }

// enqueueWave stores jobs of different keys.
func (s *Store) enqueueWave(ctx context.Context, r runner, fresh *newJobs, wave []int) error {
	for len(wave) > 0 {
		stored, err := s.storeKeyed(ctx, r, fresh.part(wave))
		if err != nil {
			return err
		}
		var lost []int
		for _, i := range wave {
			if !stored[fresh.ids[i]] {
				lost = append(lost, i)
			}
		}
		if len(lost) == 0 {
			return nil
		}
		holders, err := s.keyHolders(ctx, r, fresh.part(lost).jobs)
		if err != nil {
			return err
		}
		wave = wave[:0]
		for _, i := range lost {
			job := fresh.jobs[i]
			holder, held := holders[keyOf(job)]
			switch {
			case !held: // the holder gave it back meanwhile
				wave = append(wave, i)
			case job.OnDuplicate == fairlead.KeepDuplicate:
				fresh.ids[i] = holder
			case job.OnDuplicate == fairlead.ReplaceDuplicate:
				switch err := s.replaceHolder(ctx, r, fresh, i, holder); {
				case err == nil:
					wave = append(wave, i)
				case !fresh.refuse(i, err):
					return err
				}
			default:
				if err := driver.KeyTaken(job.Tenant, job.Key, holder); !fresh.refuse(i, err) {
					return err
				}
			}
		}
	}
	return nil
}

// refuse records that a job cannot be stored because its key is taken. It returns false
// if a refused job fails the whole call.
func (n *newJobs) refuse(i int, err error) bool {
	if n.refused == nil || !errors.Is(err, fairlead.ErrConflict) {
		return false
	}
	n.refused[i] = err
	return true
}

// storeKeyed stores the jobs whose keys are free and returns their ids.
func (s *Store) storeKeyed(ctx context.Context, r runner, fresh *newJobs) (map[int64]bool, error) {
	keys, tenants := make([]string, len(fresh.jobs)), make([]string, len(fresh.jobs))
	for i, job := range fresh.jobs {
		keys[i], tenants[i] = job.Key, job.Tenant
	}
	stored := map[int64]bool{}
	c := fresh.guardedCall(s.sql.EnqueueKeyed, fresh.laneGuards(s), append(fresh.columns(), keys, tenants)...)
	c.each = func(row sqlstore.Scanner) error {
		var id *int64
		var changed *string
		if err := row.Scan(&id, &changed); err != nil {
			return err
		}
		if changed != nil {
			return changedLanes(*changed)
		}
		stored[*id] = true
		return nil
	}
	return stored, r.run(ctx, c)
}

func (s *Store) keyHolders(ctx context.Context, r runner, jobs []*fairlead.Job) (map[jobKey]int64, error) {
	keys, tenants := make([]string, len(jobs)), make([]string, len(jobs))
	for i, job := range jobs {
		keys[i], tenants[i] = job.Key, job.Tenant
	}
	holders := map[jobKey]int64{}
	err := r.run(ctx, call{sql: s.sql.KeyHolders, args: []any{tenants, keys}, each: func(row sqlstore.Scanner) error {
		var key jobKey
		var id int64
		err := row.Scan(&key.tenant, &key.key, &id)
		holders[key] = id
		return err
	}})
	return holders, err
}

// replaceHolder cancels the holder of a key, which gives the key back. It fails with
// ErrConflict if the holder has started, or is finished and keeps its key forever. It
// does nothing if the holder lost its key or moved meanwhile; the caller then looks
// again.
func (s *Store) replaceHolder(ctx context.Context, r runner, fresh *newJobs, i int, holder int64) error {
	job := fresh.jobs[i]
	next := verdict.ReplacedBy(fresh.ids[i])
	cancelled, state := false, fairlead.State("")
	err := r.run(ctx,
		call{sql: s.sql.Cancel, args: []any{holder, string(next.Reason), next.Error, true, false}, each: hits(&cancelled)},
		s.leaveCall(ended, &fresh.left, holder),
		call{sql: s.sql.Place, args: []any{holder}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
	if err != nil || cancelled || verdict.Pending(state) {
		return err
	}
	holders, err := s.keyHolders(ctx, r, []*fairlead.Job{job})
	if err != nil || holders[keyOf(job)] != holder {
		return err
	}
	return driver.KeyTaken(job.Tenant, job.Key, holder)
}
