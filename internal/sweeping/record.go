package sweeping

import (
	"context"
	"time"
)

// record is what is to be kept of an item, and what becomes of the item then.
type record struct {
	Record
	then      then
	failure   Failure // of thenAbandoned
	exhausted bool    // of thenAbandoned: its attempts were used up
}

type then uint8

const (
	thenNothing   then = iota
	thenDone           // it is done
	thenAbandoned      // it is given up
)

// keep queues a record. Its item is neither done nor to do until it was kept.
func (r *Runner) keep(record record) {
	r.records = append(r.records, record)
	select {
	case r.toKeep <- struct{}{}:
	default:
	}
}

// conclude settles an item whose record was kept, or that needs none.
func (r *Runner) conclude(record record) {
	switch record.then {
	case thenNothing:
		return
	case thenDone:
		r.counts.Done++
		r.madeGood(record.Index)
	case thenAbandoned:
		r.failed(&record)
	}
	r.settleDone(record.Index)
	r.news()
}

// Records kept with one call, the pause after a call that failed, and how many
// may fail once the run has halted.
const (
	recordsAtOnce = 500
	recordPause   = time.Second
	recordTries   = 3
)

// keepRecords has records kept until nothing runs any more and none are left.
// Those that cannot be kept leave their items to do.
func (r *Runner) keepRecords(ctx context.Context, settled <-chan struct{}) {
	ending := false
	for {
		if !ending {
			select {
			case <-r.toKeep:
			case <-settled:
				ending = true
			}
		}
		for batch := r.takeRecords(); len(batch) > 0; batch = r.takeRecords() {
			if !r.keepBatch(ctx, batch) {
				r.dropRecords(batch)
				<-settled // nothing is queued any more
				r.dropRecords(r.takeAllRecords())
				return
			}
		}
		if ending {
			return
		}
	}
}

func (r *Runner) takeRecords() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.records), recordsAtOnce)
	batch := r.records[:n:n]
	r.records = r.records[n:]
	return batch
}

func (r *Runner) takeAllRecords() []record {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.records
	r.records = nil
	return all
}

// keepBatch returns false if the records could not be kept and the run has
// halted.
func (r *Runner) keepBatch(ctx context.Context, batch []record) bool {
	plain := make([]Record, len(batch))
	for i := range batch {
		plain[i] = batch[i].Record
	}
	for failures := 0; ; {
		err := r.record(ctx, plain)
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			for i := range batch {
				r.conclude(batch[i])
			}
			return true
		}
		if r.lose(err) {
			return false
		}
		if failures++; r.halted.Load() && failures >= recordTries || pause(ctx, recordPause) != nil {
			return false
		}
	}
}

// record gives records some time even if the context has ended: the node goes,
// but not at once.
func (r *Runner) record(ctx context.Context, records []Record) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLimit)
		defer cancel()
	}
	return r.shard.Record(ctx, records)
}

// dropRecords leaves items to do, and gives back what they took from the
// budget.
func (r *Runner) dropRecords(batch []record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range batch {
		if batch[i].exhausted {
			r.spent--
		}
		if batch[i].then != thenNothing {
			r.leaveToDo(Item{Index: batch[i].Index})
		}
	}
}
