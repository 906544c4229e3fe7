package postgres

import (
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// names are the ids and fences of settlements at some positions.
func (t *settling) names(positions []int) (ids, fences []int64) {
	ids, fences = make([]int64, len(positions)), make([]int64, len(positions))
	for n, i := range positions {
		ids[n], fences[n] = t.asked[i].ID, t.asked[i].Fence
	}
	return ids, fences
}

// lease is what the settlement at a position speaks for: two of the same job may be of
// different runs.
func (t *settling) lease(i int) driver.Held {
	return driver.Held{ID: t.asked[i].ID, Fence: t.asked[i].Fence}
}

// withKeys are the ids of open settlements whose jobs may have a place at a gate.
func (t *settling) withKeys() []int64 {
	var ids []int64
	for _, i := range t.open {
		if t.asked[i].FreeKey {
			ids = append(ids, t.asked[i].ID)
		}
	}
	return ids
}

// fewOfOneClaim is below how many jobs of one claim a call of their own does
// not pay.
const fewOfOneClaim = 10

// byClaim parts settlements into those of claims with many of them and those
// of claims with few.
func (t *settling) byClaim(positions []int) (many, few []int) {
	count := map[int64]int{}
	for _, i := range positions {
		count[t.asked[i].Fence]++
	}
	for _, i := range positions {
		if len(count) == 1 || count[t.asked[i].Fence] >= fewOfOneClaim {
			many = append(many, i)
		} else {
			few = append(few, i)
		}
	}
	return many, few
}

// succeedCalls ends plain successes, one call per claim.
func (t *settling) succeedCalls(positions []int, count *int) []call {
	byFence := map[int64][]int64{}
	for _, i := range positions {
		fence := t.asked[i].Fence
		byFence[fence] = append(byFence[fence], t.asked[i].ID)
	}
	calls := make([]call, 0, len(byFence))
	for fence, ids := range byFence {
		calls = append(calls, call{sql: t.sql.Succeed, args: []any{fence, ids}, each: func(row sqlstore.Scanner) error {
			moved, freed := 0, 0
			err := row.Scan(&moved, &freed)
			*count, t.freed = *count+moved, t.freed || freed > 0
			return err
		}})
	}
	return calls
}

func (t *settling) finishCall(positions []int) call {
	ids, fences := t.names(positions)
	n := len(positions)
	outcomes, freeKey := make([]int16, n), make([]bool, n)
	reasons, errs := make([]*string, n), make([]*string, n)
	outputs, memos, progress := make([]*string, n), make([]*string, n), make([]*string, n)
	for n, i := range positions {
		a := &t.asked[i]
		next := verdict.Apply(a)
		outcomes[n], outputs[n] = int16(sqlstore.OutcomeOf(next.State)), jsonText(next.Output)
		reasons[n], errs[n] = textOrNull(string(next.Reason)), textOrNull(sqlstore.CleanText(next.Error))
		memos[n], progress[n], freeKey[n] = jsonText(a.Memo), jsonText(a.Progress), a.FreeKey
	}
	return call{
		sql: t.sql.Finish, args: []any{ids, fences, outcomes, reasons, errs, outputs, memos, progress, freeKey},
		each: func(row sqlstore.Scanner) error {
			var lease driver.Held
			var cancelled, freed bool
			err := row.Scan(&lease.ID, &lease.Fence, &cancelled, &freed)
			t.moved[lease], t.freed = cancelled, t.freed || freed
			return err
		},
	}
}

func (t *settling) releaseCall(positions []int) call {
	ids, fences := t.names(positions)
	n := len(positions)
	failed, unused, begun := make([]bool, n), make([]bool, n), make([]bool, n)
	at, after := make([]int64, n), make([]int64, n)
	reasons, errs, memos, progress := make([]*string, n), make([]*string, n), make([]*string, n), make([]*string, n)
	for n, i := range positions {
		a := &t.asked[i]
		next := verdict.Apply(a)
		failed[n], unused[n], begun[n] = next.Failed, next.Unused, next.Begun
		at[n], after[n] = sqlstore.Micros(next.At), next.After.Microseconds()
		reasons[n], errs[n] = textOrNull(string(next.Reason)), textOrNull(sqlstore.CleanText(next.Error))
		memos[n], progress[n] = jsonText(a.Memo), jsonText(a.Progress)
	}
	return call{
		sql: t.sql.Release, args: []any{ids, fences, failed, unused, at, after, reasons, errs, memos, progress, begun},
		each: func(row sqlstore.Scanner) error {
			var lease driver.Held
			var lane int32
			var cancelled, due, freed bool
			err := row.Scan(&lease.ID, &lease.Fence, &lane, &cancelled, &due, &freed)
			t.moved[lease], t.freed = cancelled, t.freed || freed
			switch {
			case cancelled:
			case due:
				t.ready = append(t.ready, lane)
			default:
				t.later = true
			}
			return err
		},
	}
}

func (t *settling) awaitCall(positions []int) call {
	ids, fences := t.names(positions)
	n := len(positions)
	after, memos, progress, retries := make([]int64, n), make([]*string, n), make([]*string, n), make([]int64, n)
	for n, i := range positions {
		a := &t.asked[i]
		after[n], memos[n], progress[n], retries[n] = a.After.Microseconds(), jsonText(a.Memo), jsonText(a.Progress), sqlstore.RetryMicros(a.Retry)
	}
	return call{
		sql: t.sql.Await, args: []any{ids, fences, after, memos, progress, retries},
		each: func(row sqlstore.Scanner) error {
			var lease driver.Held
			var cancelled, freed bool
			err := row.Scan(&lease.ID, &lease.Fence, &cancelled, &freed)
			t.moved[lease], t.freed = cancelled, t.freed || freed
			return err
		},
	}
}
