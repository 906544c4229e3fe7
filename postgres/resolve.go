package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
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
	Final    bool    `json:"final,omitempty"`
}

func encodeAnswer(s *fairlead.Settlement) (string, error) {
	raw, err := json.Marshal(answer{
		Move: s.Move, Output: jsonText(s.Output), Reason: s.Reason, Error: s.Error, After: s.After, At: sqlstore.Micros(s.At),
		Memo: jsonText(s.Memo), Progress: jsonText(s.Progress), Final: s.Final,
	})
	return string(raw), err
}

// decodeAnswer is the reverse of encodeAnswer; nil if no answer is kept.
func decodeAnswer(raw []byte) (*fairlead.Settlement, error) {
	if raw == nil {
		return nil, nil
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("decode the stored answer: %w", err)
	}
	return &fairlead.Settlement{
		Move: a.Move, Output: document(a.Output), Reason: a.Reason, Error: a.Error, After: a.After, At: sqlstore.Time(a.At),
		Memo: document(a.Memo), Progress: document(a.Progress), Final: a.Final, FreeKey: true,
	}, nil
}

// document is a document that is kept as text; nil: there is none.
func document(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// Resolve stores the answer to a waiting job. It returns ErrLeaseLost if the fence is not
// the job's current fence, ErrExpired if the deadline has passed, and ErrConflict if the job
// already has a different answer.
func (s *Store) Resolve(ctx context.Context, given fairlead.Settlement) error {
	ctx = sqlstore.MayWait(ctx)
	answer, err := sqlstore.Answer(&given)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	res := resolving{Store: s, answer: &answer}
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
	answer  *fairlead.Settlement
	retried []int32 // its lane, if it is to run again
	freed   bool    // it gave back slots of limits
	gates   []int64 // where it gave back its place
}

// try does what is to be done with the answer. It reports false if the job was nowhere
// because it was on the move.
func (r *resolving) try(ctx context.Context, in runner) (done bool, err error) {
	at, err := r.jobState(ctx, in, r.answer.ID)
	if err != nil || at == nil {
		return false, err
	}
	reply, err := at.Resolve(r.answer)
	if err != nil {
		return true, err
	}
	switch reply {
	case verdict.Counts:
		err = r.move(ctx, in, at.Apply(r.answer))
	case verdict.Kept:
		err = r.keep(ctx, in)
	case verdict.Stale:
		err = r.recorded(ctx, in)
	}
	return true, err
}

// move moves a waiting job, which is locked, as was decided by its answer.
func (r *resolving) move(ctx context.Context, in runner, next verdict.Next) error {
	id := r.answer.ID
	var calls []call
	if memo, progress := jsonText(r.answer.Memo), jsonText(r.answer.Progress); memo != nil || progress != nil {
		calls = append(calls, call{sql: r.sql.KeepTold, args: []any{id, memo, progress}})
	}
	if next.State.Final() {
		args := []any{id, sqlstore.OutcomeOf(next.State), textOrNull(string(next.Reason)), textOrNull(next.Error), jsonText(next.Output)}
		calls = append(calls,
			call{sql: r.sql.AnswerFinish, args: args, each: func(row sqlstore.Scanner) error { return row.Scan(&r.freed) }},
			r.leaveCall(ended, &r.gates, id))
	} else {
		args := []any{id, sqlstore.Micros(next.At), next.After.Microseconds(), string(next.Reason), next.Error}
		calls = append(calls, call{sql: r.sql.AnswerAgain, args: args, each: func(row sqlstore.Scanner) error {
			r.retried = make([]int32, 1)
			return row.Scan(&r.retried[0], &r.freed)
		}})
	}
	return in.run(ctx, calls...)
}

// keep keeps an answer that came before the job's move to waiting.
func (r *resolving) keep(ctx context.Context, in runner) error {
	text, err := encodeAnswer(r.answer)
	if err != nil {
		return err
	}
	return in.run(ctx, call{sql: r.sql.KeepAnswer, args: []any{r.answer.ID, text}})
}

// recorded looks in the job's history whether it was this answer that ended the run.
func (r *resolving) recorded(ctx context.Context, in runner) error {
	var reason fairlead.Reason
	var text string
	found := false
	err := in.run(ctx, call{sql: r.sql.Recorded, args: []any{r.answer.ID, r.answer.Fence}, each: func(row sqlstore.Scanner) error {
		found = true
		return row.Scan(&reason, &text)
	}})
	if err != nil {
		return err
	}
	return verdict.Recorded(r.answer, found, reason, text)
}

// jobState locks a waiting or running job, or finds it elsewhere, and returns its state.
// It is nil if the job was nowhere because it was on the move, and an ErrNotFound if there
// is no such job.
func (s *Store) jobState(ctx context.Context, in runner, id int64) (*verdict.JobState, error) {
	at := &verdict.JobState{ID: id}
	for _, place := range []func(context.Context, runner, *verdict.JobState) error{s.standsWaiting, s.standsRunning, s.standsEnded} {
		if err := place(ctx, in, at); err != nil || at.State != "" {
			return at, err
		}
	}
	err := in.run(ctx, call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&at.State) }})
	switch {
	case err != nil:
		return nil, err
	case at.State == "":
		return nil, driver.NoSuchJob(id)
	case !verdict.Pending(at.State):
		return nil, nil
	}
	return at, nil
}

func (s *Store) standsWaiting(ctx context.Context, in runner, at *verdict.JobState) error {
	return in.run(ctx,
		call{sql: s.sql.LockWaiting, args: []any{at.ID}, each: func(row sqlstore.Scanner) error {
			at.State = fairlead.Waiting
			var retry int64
			err := row.Scan(&at.Fence, &at.Deadline, &retry)
			at.Retry = sqlstore.RetryOf(retry)
			return err
		}},
		call{sql: s.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&at.Now) }})
}

func (s *Store) standsRunning(ctx context.Context, in runner, at *verdict.JobState) error {
	var kept []byte
	err := in.run(ctx, call{sql: s.sql.LockRunning, args: []any{at.ID}, each: func(row sqlstore.Scanner) error {
		at.State = fairlead.Running
		return row.Scan(&at.Fence, &kept)
	}})
	if err == nil {
		at.Answer, err = decodeAnswer(kept)
	}
	return err
}

func (s *Store) standsEnded(ctx context.Context, in runner, at *verdict.JobState) error {
	return in.run(ctx, call{sql: s.sql.PastAnswer, args: []any{at.ID}, each: func(row sqlstore.Scanner) error {
		var outcome int
		err := row.Scan(&at.Fence, &outcome, &at.Reason, &at.Error, &at.Output)
		at.State = sqlstore.StateOf(outcome)
		return err
	}})
}
