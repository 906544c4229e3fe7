package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// enqueueKeyed stores the one job, or does what the job asks for if its key is taken.
// If it refuses, it has written nothing.
func (t *txn) enqueueKeyed(jobs []newJob) ([]int64, error) {
	job := jobs[0]
	var holder int64
	taken, err := t.one(t.sql.KeyHolder, []any{job.lane.Tenant, job.key}, &holder)
	if err != nil {
		return nil, err
	}
	if taken && job.onDuplicate == fairlead.KeepDuplicate {
		return []int64{holder}, nil
	}
	var replaced *placed
	if taken {
		if replaced, err = t.locate(holder); err != nil {
			return nil, err
		}
		if job.onDuplicate != fairlead.ReplaceDuplicate || !verdict.Pending(replaced.state) {
			return nil, driver.KeyTaken(job.lane.Tenant, job.key, holder)
		}
		if err := t.giveUpKey(replaced); err != nil {
			return nil, err
		}
	}
	ids, err := t.insert(jobs)
	if err != nil {
		return nil, err
	}
	if err := t.must(1, t.sql.TakeKey, job.lane.Tenant, job.key, ids[0]); err != nil {
		return nil, err
	}
	if replaced != nil {
		next := verdict.ReplacedBy(ids[0])
		return ids, t.become(replaced, &next)
	}
	return ids, nil
}

// takeKey gives a job its key again after it had ended. It fails if another job holds
// the key by now.
func (t *txn) takeKey(p *placed) error {
	if p.key == "" {
		return nil
	}
	lane, err := t.laneNamed(p.lane)
	if err != nil {
		return err
	}
	var holder int64
	taken, err := t.one(t.sql.KeyHolder, []any{lane.Tenant, p.key}, &holder)
	switch {
	case err != nil:
		return err
	case taken && holder == p.id: // held forever
		return nil
	case taken:
		return driver.KeyTaken(lane.Tenant, p.key, holder)
	}
	return t.must(1, t.sql.TakeKey, lane.Tenant, p.key, p.id)
}

// giveUpKey takes the key from a job, even one that holds it forever.
func (t *txn) giveUpKey(p *placed) error {
	_, err := t.exec(t.sql.DeleteKeys, idList([]int64{p.id}))
	return err
}
