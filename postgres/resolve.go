package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// answer is a Resolve as running.answer keeps it. Documents are text inside, to
// stay as they are byte for byte.
type answer struct {
	Move   fairlead.Move   `json:"move"`
	Output *string         `json:"output,omitempty"`
	Reason fairlead.Reason `json:"reason,omitempty"`
	Error  string          `json:"error,omitempty"`
	After  time.Duration   `json:"after,omitempty"`
	At     int64           `json:"at,omitempty"`

	Memo     *string `json:"memo,omitempty"`
	Progress *string `json:"progress,omitempty"`
}

func answerOf(s fairlead.Settlement) (answer, error) {
	if err := sqlstore.CheckAnswer(&s); err != nil {
		return answer{}, err
	}
	a := answer{Move: s.Move, Memo: jsonText(s.Memo), Progress: jsonText(s.Progress)}
	if s.Move == fairlead.Succeed {
		a.Output = jsonText(s.Output)
		return a, nil
	}
	a.Reason, a.Error = s.Reason, sqlstore.CleanText(s.Error)
	if s.Move == fairlead.Again {
		a.After, a.At = s.After, sqlstore.Micros(s.At)
	}
	return a, nil
}

func decodeAnswer(raw []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("kept answer: %w", err)
	}
	return a, nil
}

// settlement is the answer as a settlement of a running job.
func (a answer) settlement(id, fence int64) fairlead.Settlement {
	s := fairlead.Settlement{ID: id, Fence: fence, Move: a.Move, Reason: a.Reason, Error: a.Error, After: a.After, At: sqlstore.Time(a.At), FreeKey: true}
	s.Output, s.Memo, s.Progress = document(a.Output), document(a.Memo), document(a.Progress)
	return s
}

// document is a document that is kept as text; nil: there is none.
func document(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// same tells whether two answers say the same.
func (a answer) same(b answer) bool {
	for _, documents := range [][2]*string{{a.Output, b.Output}, {a.Memo, b.Memo}, {a.Progress, b.Progress}} {
		if (documents[0] == nil) != (documents[1] == nil) || string(document(documents[0])) != string(document(documents[1])) {
			return false
		}
	}
	a.Output, a.Memo, a.Progress, b.Output, b.Memo, b.Progress = nil, nil, nil, nil, nil, nil
	return a == b
}

// Resolve answers for a waiting job.
func (s *Store) Resolve(ctx context.Context, settlement fairlead.Settlement) error {
	ctx = sqlstore.MayWait(ctx)
	given, err := answerOf(settlement)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	res := resolving{Store: s, id: settlement.ID, fence: settlement.Fence, given: given}
	for done := false; !done; {
		err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			res.retried, res.freed, res.gates = nil, false, nil
			done, err = res.try(ctx, r)
			return err
		})
		if err != nil {
			return fmt.Errorf("resolve: %w", err)
		}
	}
	if res.freed {
		s.notifier.freed()
	}
	if res.retried != nil {
		s.notifier.later()
		s.notifier.work(res.retried...)
	}
	s.admit(ctx, res.gates)
	return nil
}

type resolving struct {
	*Store
	id, fence int64
	given     answer
	retried   []int32 // its lane, if it is to run again
	freed     bool    // it gave back slots of limits
	gates     []int64 // where it gave back its place
}

// try looks for the job where an answer may find it. It reports false if the
// job was nowhere because it was on the move.
func (r *resolving) try(ctx context.Context, in runner) (done bool, err error) {
	for _, place := range []func(context.Context, runner) (bool, error){r.waiting, r.running, r.finished} {
		if done, err = place(ctx, in); done || err != nil {
			return done, err
		}
	}
	return r.elsewhere(ctx, in)
}

func (r *resolving) waiting(ctx context.Context, in runner) (found bool, err error) {
	var fence, deadline, now int64
	err = in.run(ctx,
		call{sql: r.sql.LockWaiting, args: []any{r.id}, each: func(row sqlstore.Scanner) error { return row.Scan(&fence, &deadline) }},
		call{sql: r.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	switch {
	case err != nil || fence == 0:
		return false, err
	case fence != r.fence:
		return true, sqlstore.LeaseLost(r.id)
	case deadline < now:
		return true, sqlstore.DeadlinePassed(r.id)
	}
	if r.given.Memo != nil || r.given.Progress != nil {
		if err := in.run(ctx, call{sql: r.sql.KeepTold, args: []any{r.id, r.given.Memo, r.given.Progress}}); err != nil {
			return true, err
		}
	}
	if r.given.Move == fairlead.Again {
		args := []any{r.id, r.given.At, r.given.After.Microseconds(), string(r.given.Reason), r.given.Error}
		return true, in.run(ctx, call{sql: r.sql.AnswerAgain, args: args, each: func(row sqlstore.Scanner) error {
			r.retried = make([]int32, 1)
			return row.Scan(&r.retried[0], &r.freed)
		}})
	}
	outcome := sqlstore.OutcomeSucceeded
	if r.given.Move == fairlead.Fail {
		outcome = sqlstore.OutcomeFailed
	}
	args := []any{r.id, outcome, textOrNull(string(r.given.Reason)), textOrNull(r.given.Error), r.given.Output}
	return true, in.run(ctx,
		call{sql: r.sql.AnswerFinish, args: args, each: func(row sqlstore.Scanner) error { return row.Scan(&r.freed) }},
		r.leaveCall(ended, &r.gates, r.id))
}

// running keeps an answer that came before the job's move to waiting.
func (r *resolving) running(ctx context.Context, in runner) (found bool, err error) {
	var fence int64
	var kept []byte
	err = in.run(ctx, call{sql: r.sql.LockRunning, args: []any{r.id}, each: func(row sqlstore.Scanner) error { return row.Scan(&fence, &kept) }})
	switch {
	case err != nil || fence == 0:
		return false, err
	case fence != r.fence:
		return true, sqlstore.LeaseLost(r.id)
	case kept != nil:
		before, err := decodeAnswer(kept)
		if err == nil && !r.given.same(before) {
			err = sqlstore.AnsweredDifferently(r.id)
		}
		return true, err
	}
	raw, err := json.Marshal(r.given)
	if err != nil {
		return true, err
	}
	return true, in.run(ctx, call{sql: r.sql.KeepAnswer, args: []any{r.id, string(raw)}})
}

// finished compares with how the job ended.
func (r *resolving) finished(ctx context.Context, in runner) (found bool, err error) {
	var outcome int
	var fence int64
	var end answer
	err = in.run(ctx, call{sql: r.sql.PastAnswer, args: []any{r.id}, each: func(row sqlstore.Scanner) error {
		var output []byte
		err := row.Scan(&fence, &outcome, &end.Reason, &end.Error, &output)
		end.Output = jsonText(output)
		return err
	}})
	if err != nil || outcome == 0 {
		return false, err
	}
	switch outcome {
	case sqlstore.OutcomeSucceeded:
		end.Move = fairlead.Succeed
	case sqlstore.OutcomeFailed:
		end.Move = fairlead.Fail
	}
	end.Memo, end.Progress = r.given.Memo, r.given.Progress // what came of them is not known any more
	switch {
	case fence != r.fence || fence == 0: // a job that never ran has none
		return true, sqlstore.LeaseLost(r.id)
	case r.given.same(end):
		return true, nil
	case end.Reason == fairlead.ReasonDeadline:
		return true, sqlstore.DeadlinePassed(r.id)
	}
	return true, sqlstore.AnsweredDifferently(r.id)
}

// elsewhere is for jobs that wait for another run: the lease is over, unless
// it is this answer that ended it.
func (r *resolving) elsewhere(ctx context.Context, in runner) (done bool, err error) {
	var state fairlead.State
	retried := false
	err = in.run(ctx,
		call{sql: r.sql.Place, args: []any{r.id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }},
		call{sql: r.sql.PastRetry, args: []any{r.id, r.fence, string(r.given.Reason), r.given.Error}, each: func(sqlstore.Scanner) error {
			retried = r.given.Move == fairlead.Again
			return nil
		}})
	switch {
	case err != nil:
		return false, err
	case state == "":
		return true, driver.NoSuchJob(r.id)
	case state != fairlead.Scheduled && state != fairlead.Parked && state != fairlead.Ready:
		return false, nil
	case retried:
		return true, nil
	}
	return true, sqlstore.LeaseLost(r.id)
}
