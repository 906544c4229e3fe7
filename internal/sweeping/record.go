package sweeping

import (
	"context"
	"time"
)

// record is the record of an item to store, and the step that follows.
type record struct {
	Record
	then      then
	failure   Failure // for thenAbandoned
	exhausted bool    // for thenAbandoned: the attempts were exhausted
}

type then uint8

const (
	thenNothing   then = iota
	thenDone           // the item is done
	thenAbandoned      // the item is given up
)

// keep queues a record. Its item is neither done nor unfinished until the record is stored.
func (r *Runner) keep(record record) {
	r.records = append(r.records, record)
	select {
	case r.toKeep <- struct{}{}:
	default:
	}
}

// conclude settles an item whose record was stored or that needs none.
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

// Records stored with one call, the pause after a failed call, and the number of calls that
// may fail once the run has halted.
const (
	recordsAtOnce = 500
	recordPause   = time.Second
	recordTries   = 3
)

// keepRecords stores records until all workers have ended and no records are left. Items
// whose records cannot be stored remain unfinished.
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
				<-settled // nothing more is queued
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

// keepBatch stores records. It returns false if they could not be stored and the run has
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

// record stores records. If the context has ended, it allows some more time: the node is
// shutting down, but not immediately.
func (r *Runner) record(ctx context.Context, records []Record) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLimit)
		defer cancel()
	}
	return r.shard.Record(ctx, records)
}

// dropRecords leaves the items of records unfinished and returns their part of the error
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
