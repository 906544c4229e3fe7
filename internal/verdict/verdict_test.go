package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestDecide(t *testing.T) {
	boom, away := errors.New("boom"), fmt.Errorf("save: %w", fairlead.ErrUnavailable)
	full := fmt.Errorf("call: %w", os.NewSyscallError("socket", syscall.EMFILE))
	at := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	fixed := fairlead.HandlerOptions{Retry: fairlead.Fixed(7 * time.Second), MaxAttempts: 3}
	for _, c := range []struct {
		name     string
		failures int
		job      fairlead.Job
		options  fairlead.HandlerOptions
		err      error
		cause    error
		want     fairlead.Settlement
	}{
		{name: "nil succeeds", want: fairlead.Settlement{Move: fairlead.Succeed, Output: json.RawMessage(`1`)}},
		{name: "nil succeeds although the context ended", cause: ErrTimeout, want: fairlead.Settlement{Move: fairlead.Succeed, Output: json.RawMessage(`1`)}},
		{
			name: "an error is tried again after the handler's pause", options: fixed, err: boom,
			want: fairlead.Settlement{Move: fairlead.Again, After: 7 * time.Second, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "the job's own pause wins over the handler's", options: fixed, job: fairlead.Job{Retry: fairlead.Fixed(time.Minute)}, err: boom,
			want: fairlead.Settlement{Move: fairlead.Again, After: time.Minute, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "RetryDelay wins over both", job: fairlead.Job{Retry: fairlead.Fixed(time.Minute)}, err: boom,
			options: fairlead.HandlerOptions{RetryDelay: func(*fairlead.Job, error) time.Duration { return time.Hour }},
			want:    fairlead.Settlement{Move: fairlead.Again, After: time.Hour, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "the last allowed failure is final", failures: 2, options: fixed, err: boom,
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "the job's own limit wins over the handler's", failures: 2, options: fixed, job: fairlead.Job{MaxAttempts: 4}, err: boom,
			want: fairlead.Settlement{Move: fairlead.Again, After: 7 * time.Second, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "Fatal fails at once", options: fixed, err: fmt.Errorf("while sending: %w", fairlead.Fatal(boom)),
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "while sending: boom"},
		},
		{
			name: "a process without descriptors is no failure", failures: 2, options: fixed, err: full,
			want: fairlead.Settlement{Move: fairlead.Snooze, After: 7 * time.Second},
		},
		{
			name: "a timeout is told apart", options: fixed, err: boom, cause: ErrTimeout,
			want: fairlead.Settlement{Move: fairlead.Again, After: 7 * time.Second, Reason: fairlead.ReasonTimeout, Error: "boom"},
		},
		{
			name: "an error after a wish to cancel ends the job", options: fixed, err: boom, cause: ErrCancelled,
			want: fairlead.Settlement{Move: fairlead.Drop, Error: "boom"},
		},
		{
			name: "a wish to cancel wins over the handler's choice", err: fairlead.SnoozeFor(time.Hour), cause: ErrCancelled,
			want: fairlead.Settlement{Move: fairlead.Drop, Error: "job outcome: snooze"},
		},
		{
			name: "an error while shutting down uses up no attempt", failures: 2, options: fixed, err: boom, cause: ErrDraining,
			want: fairlead.Settlement{Move: fairlead.MoveRelease},
		},
		{
			name: "the handler's choice counts while shutting down", err: fairlead.SnoozeFor(time.Hour), cause: ErrDraining,
			want: fairlead.Settlement{Move: fairlead.Snooze, After: time.Hour},
		},
		{
			name: "a store that was unavailable is no failure, whatever attempts are left", failures: 2, options: fixed, err: away,
			want: fairlead.Settlement{Move: fairlead.Snooze, After: 7 * time.Second},
		},
		{
			name: "a store that was unavailable is no failure, though the time is over", options: fixed, err: away, cause: ErrTimeout,
			want: fairlead.Settlement{Move: fairlead.Snooze, After: 7 * time.Second},
		},
		{
			name: "after a store was unavailable there is always a pause", options: fairlead.HandlerOptions{Retry: fairlead.Fixed(0)}, err: away,
			want: fairlead.Settlement{Move: fairlead.Snooze, After: time.Second},
		},
		{
			name: "Fatal counts even if the store was unavailable", options: fixed, err: fairlead.Fatal(away),
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: away.Error()},
		},
		{
			name: "RetryAt counts as a failure", options: fixed, err: fairlead.RetryAt(at, boom),
			want: fairlead.Settlement{Move: fairlead.Again, At: at, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "RetryAt after the last failure is final", failures: 2, options: fixed, err: fairlead.RetryAt(at, boom),
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "boom"},
		},
		{
			name: "a snooze carries the memo", err: fairlead.SnoozeUntil(at).Remember(map[string]int{"page": 3}),
			want: fairlead.Settlement{Move: fairlead.Snooze, At: at, Memo: json.RawMessage(`{"page":3}`)},
		},
		{name: "Release gives the job back", err: fairlead.Release(), want: fairlead.Settlement{Move: fairlead.MoveRelease}},
		{name: "Await waits", err: fairlead.Await(time.Minute), want: fairlead.Settlement{Move: fairlead.MoveAwait, After: time.Minute}},
		{
			name: "Await with OrRetry waits with the pause of a failure", failures: 1, options: fixed, err: fairlead.Await(time.Minute).OrRetry(),
			want: fairlead.Settlement{Move: fairlead.MoveAwait, After: time.Minute, Retry: new(7 * time.Second)},
		},
		{
			name: "the last attempt has none", failures: 2, options: fixed, err: fairlead.Await(time.Minute).OrRetry(),
			want: fairlead.Settlement{Move: fairlead.MoveAwait, After: time.Minute},
		},
		{
			name: "Await without a time fails the job", err: fairlead.Await(0),
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "Await requires a positive duration"},
		},
		{
			name: "an invalid replacement fails the job", err: fairlead.Replace(&fairlead.Job{}),
			want: fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonFatal, Error: "replacement: invalid: kind: is empty; set a name"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.job.ID, c.job.Fence, c.job.Failures, c.job.Key = 5, 9, c.failures, "k"
			c.want.ID, c.want.Fence, c.want.FreeKey = 5, 9, true
			got := Decide(&c.job, &fairlead.Entry{Options: c.options}, c.err, c.cause, json.RawMessage(`1`))
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("Decide\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestPanicsBecomeFailuresWithTheirStack(t *testing.T) {
	got := Decide(&fairlead.Job{}, &fairlead.Entry{}, recovered(), nil, nil)
	if got.Reason != fairlead.ReasonPanic || !strings.Contains(got.Error, "ouch") || !strings.Contains(got.Error, "verdict_test.go") {
		t.Errorf("a panic became %+v", got)
	}
}

func recovered() (err error) {
	defer func() { err = NewPanic(recover()) }()
	panic("ouch")
}

func TestAJobWithAKeyOrAGateGivesItBack(t *testing.T) {
	entry := &fairlead.Entry{}
	for _, c := range []struct {
		job  fairlead.Job
		want bool
	}{{fairlead.Job{}, false}, {fairlead.Job{Key: "k"}, true}, {fairlead.Job{ConcurrencyKey: "c"}, true}} {
		if s := Decide(&c.job, entry, nil, nil, nil); s.FreeKey != c.want {
			t.Errorf("%+v: its key is free: %v", c.job, s.FreeKey)
		}
	}
	if s := Decide(&fairlead.Job{}, entry, fairlead.Replace(nil), nil, nil); s.Move != fairlead.Succeed {
		t.Errorf("a job that is replaced by none settles as %+v", s)
	}
}
