package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend gives a waiting job more time and keeps what is told of it.
func (s *Store) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	ext := extending{Store: s, Extension: extension}
	for done := false; !done; {
		err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			ext.deadline = 0
			done, err = ext.try(ctx, r)
			return err
		})
		if err != nil {
			return time.Time{}, fmt.Errorf("extend: %w", err)
		}
	}
	return sqlstore.Time(ext.deadline), nil
}

type extending struct {
	*Store
	fairlead.Extension
	deadline int64
}

// try looks for the job where something can be told of it. It reports false if
// the job was nowhere because it was on the move.
func (e *extending) try(ctx context.Context, in runner) (done bool, err error) {
	for _, place := range []func(context.Context, runner) (bool, error){e.waiting, e.running, e.finished} {
		if done, err = place(ctx, in); done || err != nil {
			return done, err
		}
	}
	state := fairlead.State("")
	err = in.run(ctx, call{sql: e.sql.Place, args: []any{e.ID}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
	switch {
	case err != nil:
		return false, err
	case state == "":
		return true, driver.NoSuchJob(e.ID)
	case state != fairlead.Scheduled && state != fairlead.Parked && state != fairlead.Ready:
		return false, nil
	}
	return true, sqlstore.LeaseLost(e.ID)
}

func (e *extending) waiting(ctx context.Context, in runner) (found bool, err error) {
	var fence, now int64
	err = in.run(ctx,
		call{sql: e.sql.LockWaiting, args: []any{e.ID}, each: func(row sqlstore.Scanner) error { return row.Scan(&fence, &e.deadline) }},
		call{sql: e.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	switch {
	case err != nil || fence == 0:
		return false, err
	case fence != e.Fence:
		return true, sqlstore.LeaseLost(e.ID)
	case e.deadline < now:
		return true, sqlstore.DeadlinePassed(e.ID)
	}
	e.deadline = max(e.deadline, now+e.For.Microseconds())
	return true, in.run(ctx, append(e.tell(), call{sql: e.sql.Extend, args: []any{e.ID, e.deadline}})...)
}

// running is for what is told before the job's move to waiting.
func (e *extending) running(ctx context.Context, in runner) (found bool, err error) {
	var fence int64
	var answer []byte
	err = in.run(ctx, call{sql: e.sql.LockRunning, args: []any{e.ID}, each: func(row sqlstore.Scanner) error { return row.Scan(&fence, &answer) }})
	switch {
	case err != nil || fence == 0:
		return false, err
	case fence != e.Fence:
		return true, sqlstore.LeaseLost(e.ID)
	case answer != nil:
		return true, sqlstore.AnsweredAlready(e.ID)
	}
	return true, in.run(ctx, e.tell()...)
}

// tell keeps what is told, if anything is.
func (e *extending) tell() []call {
	if len(e.Told) == 0 {
		return nil
	}
	return []call{{sql: e.sql.Tell, args: []any{e.ID, e.Fence, jsonText(e.Told)}}}
}

// finished is for jobs of which nobody needs to be told any more.
func (e *extending) finished(ctx context.Context, in runner) (found bool, err error) {
	var outcome int
	var fence int64
	var reason fairlead.Reason
	err = in.run(ctx, call{sql: e.sql.PastAnswer, args: []any{e.ID}, each: func(row sqlstore.Scanner) error {
		var text string
		var output []byte
		return row.Scan(&fence, &outcome, &reason, &text, &output)
	}})
	switch {
	case err != nil || outcome == 0:
		return false, err
	case fence != e.Fence || fence == 0: // a job that never ran has none
		return true, sqlstore.LeaseLost(e.ID)
	case reason == fairlead.ReasonDeadline:
		return true, sqlstore.DeadlinePassed(e.ID)
	}
	return true, sqlstore.AnsweredAlready(e.ID)
}
