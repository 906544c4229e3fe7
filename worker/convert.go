package worker

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// jobOf is a job as its handler gets it.
func jobOf(in *fairleadv1.Job) *fairlead.Job {
	job := &fairlead.Job{
		ID: in.GetId(), Kind: in.GetKind(), Args: in.GetArgs(), Queue: in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()),
		NotBefore: timeOf(in.GetNotBefore()), StartBy: timeOf(in.GetStartBy()),
		Timeout: in.GetTimeout().AsDuration(), MaxAttempts: int(in.GetMaxAttempts()), OnCrash: fairlead.OnCrash(in.GetOnCrash()),
		Key: in.GetKey(), KeyScope: fairlead.KeyScope(in.GetKeyScope()), ConcurrencyKey: in.GetConcurrencyKey(), Trace: in.GetTrace(),
		Status: fairlead.Status{
			State: fairlead.State(in.GetState()), Attempt: int(in.GetAttempt()), Failures: int(in.GetFailures()), Crashes: int(in.GetCrashes()),
			Fence: in.GetFence(), CreatedAt: timeOf(in.GetCreatedAt()), StartedAt: timeOf(in.GetStartedAt()),
			Progress: in.GetProgress(), Memo: in.GetMemo(), Batch: in.GetBatchId(),
		},
	}
	if retry := in.GetRetry(); retry != nil {
		job.Retry = &fairlead.Retry{Base: retry.GetBase().AsDuration(), Factor: retry.GetFactor(), Max: retry.GetMax().AsDuration(), Precise: retry.GetPrecise()}
	}
	return job
}

// newJobTo is a job to be stored in place of another.
func newJobTo(job *fairlead.Job) *fairleadv1.NewJob {
	return &fairleadv1.NewJob{
		Kind: job.Kind, Args: job.Args, Queue: job.Queue, Tenant: job.Tenant, Priority: int32(job.Priority),
		NotBefore: timeTo(job.NotBefore), StartBy: timeTo(job.StartBy), Timeout: durationTo(job.Timeout), MaxAttempts: int32(job.MaxAttempts),
		Retry: retryTo(job.Retry), Key: job.Key, KeyScope: string(job.KeyScope), OnDuplicate: string(job.OnDuplicate),
		ConcurrencyKey: job.ConcurrencyKey, OnCrash: string(job.OnCrash), Trace: job.Trace,
	}
}

func retryTo(retry *fairlead.Retry) *fairleadv1.Retry {
	if retry == nil {
		return nil
	}
	return &fairleadv1.Retry{Base: durationTo(retry.Base), Factor: retry.Factor, Max: durationTo(retry.Max), Precise: retry.Precise}
}

func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func timeTo(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func durationTo(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// What one call may carry: the service takes a thousand runs, and 16 MiB.
const (
	mostEnds  = 1000
	mostBytes = 8 << 20
	mostError = 64 << 10
)

// callful takes as many settlements as one call carries.
func callful(settlements []fairlead.Settlement) (ends []*fairleadv1.RunEnd, rest []fairlead.Settlement) {
	size := 0
	for i, s := range settlements {
		size += len(s.Output) + len(s.Memo) + len(s.Progress) + len(s.Error)
		if s.Replace != nil {
			size += len(s.Replace.Args)
		}
		if i == mostEnds || i > 0 && size > mostBytes {
			return ends, settlements[i:]
		}
		ends = append(ends, endTo(s))
	}
	return ends, nil
}

// endTo is a settlement as the service is told of it. Whether a failure is the
// last is decided there.
func endTo(s fairlead.Settlement) *fairleadv1.RunEnd {
	end := &fairleadv1.RunEnd{Id: s.ID, Fence: s.Fence, Memo: s.Memo, Progress: s.Progress}
	switch s.Move {
	case fairlead.Succeed:
		end.Outcome, end.Output = "succeed", s.Output
		if s.Replace != nil {
			end.Replace = newJobTo(s.Replace)
		}
	case fairlead.Snooze:
		end.Outcome, end.After, end.At = "snooze", durationTo(s.After), timeTo(s.At)
	case fairlead.MoveRelease:
		end.Outcome = "release"
	case fairlead.MoveAwait:
		end.Outcome, end.After = "await", durationpb.New(s.After)
	case fairlead.Again:
		end.Outcome, end.Reason, end.Error, end.At = "fail", string(s.Reason), shown(s.Error), timeTo(s.At)
		if s.At.IsZero() {
			end.After = durationpb.New(s.After)
		}
	case fairlead.Drop: // the service knows of the wish
		end.Outcome, end.Error = "fail", shown(s.Error)
	case fairlead.Fail:
		end.Outcome, end.Error = "fatal", shown(s.Error)
		if s.Reason != fairlead.ReasonFatal {
			end.Outcome, end.Reason = "fail", string(s.Reason)
		}
	}
	return end
}

// shown is an error's text as far as the service keeps it.
func shown(text string) string {
	if len(text) > mostError {
		text = text[:mostError]
	}
	text = strings.ToValidUTF8(text, "?")
	return strings.ReplaceAll(text, "\x00", "?")
}
