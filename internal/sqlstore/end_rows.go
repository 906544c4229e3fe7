package sqlstore

import (
	"slices"

	"github.com/fairlead-io/fairlead/batch"
)

// EndRows collects the ends of jobs and their memos. A statement that reads memos must follow
// the one that reads the ends: a memo is written together with the end or earlier.
type EndRows struct {
	ends  []batch.TaskEnd
	memos map[int64]endMemo
}

// endMemo holds the columns of an ended job's row in the memo table.
type endMemo struct {
	memo     []byte
	released bool // a run of the job was released after its handler had begun
}

// AddEnd adds an end from the columns id, fence, outcome, attempt, failures, crashes, reason
// and finished_at.
func (r *EndRows) AddEnd(row Scanner) error { return r.add(row) }

// AddWhole adds an end from the columns of AddEnd, followed by memo and released.
func (r *EndRows) AddWhole(row Scanner) error {
	var memo endMemo
	if err := r.add(row, &memo.memo, &memo.released); err != nil {
		return err
	}
	r.note(r.ends[len(r.ends)-1].ID, memo)
	return nil
}

// AddMemo adds the memo of a job from the columns id, memo and released. The job may not have
// ended.
func (r *EndRows) AddMemo(row Scanner) error {
	var id int64
	var memo endMemo
	err := row.Scan(&id, &memo.memo, &memo.released)
	r.note(id, memo)
	return err
}

func (r *EndRows) add(row Scanner, rest ...any) error {
	var end batch.TaskEnd
	var outcome int
	var finished int64
	err := row.Scan(append([]any{&end.ID, &end.Fence, &outcome, &end.Attempt, &end.Failures, &end.Crashes, &end.Reason, &finished}, rest...)...)
	end.State, end.FinishedAt = StateOf(outcome), Time(finished)
	r.ends = append(r.ends, end)
	return err
}

func (r *EndRows) note(id int64, memo endMemo) {
	if r.memos == nil {
		r.memos = map[int64]endMemo{}
	}
	r.memos[id] = memo
}

// sorted returns the ends with their memos, ordered by ID.
func (r *EndRows) sorted() []batch.TaskEnd {
	for i := range r.ends {
		memo := r.memos[r.ends[i].ID]
		r.ends[i].Memo, r.ends[i].Released = memo.memo, memo.released
	}
	slices.SortFunc(r.ends, func(a, b batch.TaskEnd) int { return compareEnd(a, b.ID) })
	return r.ends
}
