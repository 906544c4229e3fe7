package storetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// extension returns an extension of a job's deadline with a report.
func extension(job *fairlead.Job, span time.Duration, told string) fairlead.Extension {
	e := fairlead.Extension{ID: job.ID, Fence: job.Fence, For: span}
	if told != "" {
		e.Told = json.RawMessage(told)
	}
	return e
}

func (f *fixture) extend(e fairlead.Extension) time.Time {
	f.Helper()
	deadline, err := f.store.Extend(f.ctx(), e)
	f.ok(err)
	return deadline
}

func (f *fixture) wantNotExtended(e fairlead.Extension, want error) {
	f.Helper()
	deadline, err := f.store.Extend(f.ctx(), e)
	f.wantErr(err, want)
	f.equal("the deadline of a refusal", deadline.IsZero(), true)
}

func (f *fixture) expire() int {
	f.Helper()
	n, err := expireOverdue(f.ctx(), f.store, 10)
	f.ok(err)
	return n
}

// expireOverdue ends the waits of at most limit jobs whose deadline has passed.
func expireOverdue(ctx context.Context, store Store, limit int) (int, error) {
	overdue, err := store.Overdue(ctx, limit)
	if err != nil {
		return 0, err
	}
	return store.Expire(ctx, overdue)
}

// testExtend covers jobs that wait for an hour.
func testExtend(c *chapter) {
	c.test("the deadline becomes For from now, and it counts", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(time.Minute)
		until := f.extend(extension(job, 2*time.Hour, ""))
		f.equal("the deadline", until, f.now().Add(2*time.Hour))
		f.equal("Deadline", f.wantState(job, fairlead.Waiting).Deadline, until)
		f.Advance(2*time.Hour - time.Microsecond)
		f.equal("expired", f.expire(), 0)
		f.Advance(2 * time.Microsecond)
		f.equal("expired", f.expire(), 1)
		f.equal("Reason", f.wantState(job, fairlead.Failed).Reason, fairlead.ReasonDeadline)
	})
	c.test("a deadline that is later already stays, and is returned", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		was := f.get(job).Deadline
		for _, span := range []time.Duration{0, time.Minute, -time.Hour} {
			f.equal("the deadline", f.extend(extension(job, span, "")), was)
		}
		f.equal("Deadline", f.get(job).Deadline, was)
	})
	c.test("what is told is kept beside progress, and the last counts", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence, Progress: json.RawMessage(`{"own": 1}`), Memo: json.RawMessage(`[2]`)}))
		f.settle(wait(job))
		f.extend(extension(job, 0, `{"done": 1}`))
		f.extend(extension(job, 0, `{"done": 2}`))
		f.extend(extension(job, time.Minute, ""))
		found := f.get(job)
		f.equal("Told", string(found.Told), `{"done": 2}`)
		f.equal("Progress", string(found.Progress), `{"own": 1}`)
		f.equal("Memo", string(found.Memo), `[2]`)
		f.resolve(success(job, `1`))
		f.equal("Told once it has ended", string(f.get(job).Told), `{"done": 2}`)
	})
	c.test("what was told of a run does not show in the next", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.extend(extension(job, 0, `1`))
		f.resolve(again(job, 0))
		f.equal("Told while it is ready", string(f.get(job).Told), "")
		next := f.claimThe(job, f.join())
		f.equal("Told while it runs", string(f.get(next).Told), "")
		f.settle(wait(next))
		f.extend(extension(next, 0, `2`))
		f.equal("Told", string(f.get(next).Told), `2`)
	})
	c.test("the same again is fine", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		first := f.extend(extension(job, 2*time.Hour, `1`))
		before := f.get(job)
		f.equal("the deadline", f.extend(extension(job, 2*time.Hour, `1`)), first)
		f.equal("the job", f.get(job), before)
	})
	c.test("a fence that is not the job's gets ErrLeaseLost and changes nothing", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Waiting, fairlead.Running, fairlead.Succeeded, fairlead.Scheduled, fairlead.Ready} {
			job := f.in(state)
			before := f.get(job)
			wrong := extension(job, 2*time.Hour, `1`)
			wrong.Fence = job.Fence + 1000
			f.wantNotExtended(wrong, fairlead.ErrLeaseLost)
			f.equal("the job", f.get(job), before)
		}
	})
	c.test("a job that waits for its next run gets ErrLeaseLost", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.resolve(again(job, time.Minute))
		f.wantNotExtended(extension(job, time.Hour, `1`), fairlead.ErrLeaseLost)
		f.wantNotExtended(fairlead.Extension{ID: job.ID, For: time.Hour}, fairlead.ErrLeaseLost)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantNotExtended(fairlead.Extension{ID: unknown, Fence: 1, For: time.Hour}, fairlead.ErrNotFound)
	})
	testExtendEarly(c)
	testExtendLate(c)
}

// testExtendEarly covers jobs that have yet to move to waiting.
func testExtendEarly(c *chapter) {
	c.test("of a job that has still to move to waiting Told is kept, and the move sets the deadline", func(f *fixture) {
		job := f.running()
		f.equal("the deadline", f.extend(extension(job, time.Minute, `"early"`)).IsZero(), true)
		f.equal("Told while it runs", string(f.wantState(job, fairlead.Running).Told), `"early"`)
		f.Advance(time.Minute)
		waits := wait(job)
		waits.Progress = json.RawMessage(`{"status": 202}`)
		f.settle(waits)
		found := f.wantState(job, fairlead.Waiting)
		f.equal("Deadline", found.Deadline, f.now().Add(time.Hour))
		f.equal("Told", string(found.Told), `"early"`)
		f.equal("Progress", string(found.Progress), `{"status": 202}`)
	})
	c.test("after an early answer it conflicts", func(f *fixture) {
		job := f.running()
		f.resolve(success(job, `1`))
		f.wantNotExtended(extension(job, time.Hour, `1`), fairlead.ErrConflict)
		f.settle(wait(job))
		f.equal("Told", string(f.wantState(job, fairlead.Succeeded).Told), "")
	})
	c.test("an early wish to cancel counts all the same", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.extend(extension(job, time.Hour, `1`))
		f.wantSettled([]fairlead.Settled{cancelled}, wait(job))
		f.wantState(job, fairlead.Cancelled)
	})
}

// testExtendLate covers jobs whose wait has ended.
func testExtendLate(c *chapter) {
	c.test("after the deadline it gets ErrExpired, whether or not the job was expired", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(time.Hour + time.Microsecond)
		f.wantNotExtended(extension(job, time.Hour, `1`), fairlead.ErrExpired)
		f.equal("Told", string(f.wantState(job, fairlead.Waiting).Told), "")
		f.equal("expired", f.expire(), 1)
		f.wantNotExtended(extension(job, time.Hour, `1`), fairlead.ErrExpired)
		f.wantState(job, fairlead.Failed)
	})
	c.test("a job that has been answered or cancelled conflicts and does not change", func(f *fixture) {
		won, failed, dropped := f.in(fairlead.Waiting), f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		f.resolve(success(won, `1`))
		f.resolve(failure(failed, "no"))
		f.ok(operations(f.store).Cancel(f.ctx(), dropped.ID, "enough"))
		for _, job := range []*fairlead.Job{won, failed, dropped} {
			before := f.get(job)
			f.wantNotExtended(extension(job, time.Hour, `1`), fairlead.ErrConflict)
			f.equal("the job", f.get(job), before)
		}
	})
	c.test("at the deadline itself either it or Expire comes too late", func(f *fixture) {
		one, two := f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		f.Advance(time.Hour)
		_, err := f.store.Extend(f.ctx(), extension(one, time.Hour, ""))
		if err != nil {
			f.wantErr(err, fairlead.ErrExpired)
		}
		f.expire()
		f.equal("the other waits", f.get(two).State == fairlead.Waiting, err == nil)
		f.equal("it waits", f.get(one).State == fairlead.Waiting, err == nil)
	})
	c.test("of Extend and an answer at once both or the answer alone counts", func(f *fixture) {
		for range f.rounds(5) {
			job := f.in(fairlead.Waiting)
			errs := f.rivals(4, func(i int, store Store) error {
				if i%2 == 0 {
					return store.Resolve(f.ctx(), success(job, `1`))
				}
				_, err := store.Extend(f.ctx(), extension(job, 2*time.Hour, `1`))
				return err
			})
			f.wantState(job, fairlead.Succeeded)
			for i, err := range errs {
				if i%2 == 0 || err == nil {
					f.ok(err)
				} else {
					f.wantErr(err, fairlead.ErrConflict)
				}
			}
		}
	})
	c.test("of Extend and the move to waiting at once neither is lost", func(f *fixture) {
		for range f.rounds(5) {
			job := f.running()
			for _, err := range f.rivals(2, func(i int, store Store) error {
				if i == 0 {
					_, err := SettleAll(f.ctx(), store, []fairlead.Settlement{wait(job)})
					return err
				}
				_, err := store.Extend(f.ctx(), extension(job, time.Minute, `"both"`))
				return err
			}) {
				f.ok(err)
			}
			found := f.wantState(job, fairlead.Waiting)
			f.equal("Told", string(found.Told), `"both"`)
			f.equal("Deadline", found.Deadline, f.now().Add(time.Hour))
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		}
	})
	c.test("of many that expire and one that extends exactly one counts", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(time.Hour - time.Microsecond)
		errs := f.rivals(4, func(i int, store Store) error {
			switch i {
			case 0:
				_, err := store.Extend(f.ctx(), extension(job, time.Hour, ""))
				return err
			case 1:
				f.Advance(2 * time.Microsecond)
			}
			_, err := expireOverdue(f.ctx(), store, 10)
			return err
		})
		for _, err := range errs[1:] {
			f.ok(err)
		}
		f.expire()
		if errs[0] == nil {
			f.wantState(job, fairlead.Waiting)
		} else {
			f.wantErr(errs[0], fairlead.ErrExpired)
			f.wantState(job, fairlead.Failed)
		}
	})
}
