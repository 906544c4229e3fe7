package message

import (
	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// Job converts a job to its API form.
func Job(job *fairlead.Job) *fairleadv1.Job {
	out := &fairleadv1.Job{
		Id: job.ID, Kind: job.Kind, Args: job.Args, Queue: job.Queue, Tenant: job.Tenant, Priority: int32(job.Priority),
		NotBefore: Time(job.NotBefore), StartBy: Time(job.StartBy), Timeout: Duration(job.Timeout), MaxAttempts: int32(job.MaxAttempts),
		Retry: Retry(job.Retry), Key: job.Key, KeyScope: string(job.KeyScope), ConcurrencyKey: job.ConcurrencyKey, OnCrash: string(job.OnCrash), OnFail: string(job.OnFail), Trace: job.Trace,
		State: string(job.State), Attempt: int32(job.Attempt), Failures: int32(job.Failures), Crashes: int32(job.Crashes),
		Fence: job.Fence, Node: int64(job.Node), CreatedAt: Time(job.CreatedAt), StartedAt: Time(job.StartedAt),
		FinishedAt: Time(job.FinishedAt), Deadline: Time(job.Deadline), CancelWish: job.CancelWish,
		Output: job.Output, Reason: string(job.Reason), Error: job.Error, Progress: job.Progress, Memo: job.Memo, BatchId: job.Batch,
	}
	if len(job.Told) > 0 {
		out.Progress, out.Reported = job.Told, job.Progress
	}
	return out
}

// JobOf converts a job in a response to the form that its handler receives, which omits the
// fields that become known only after the attempt.
func JobOf(in *fairleadv1.Job) *fairlead.Job {
	return &fairlead.Job{
		ID: in.GetId(), Kind: in.GetKind(), Args: in.GetArgs(), Queue: in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()),
		NotBefore: TimeOf(in.GetNotBefore()), StartBy: TimeOf(in.GetStartBy()), Timeout: in.GetTimeout().AsDuration(), MaxAttempts: int(in.GetMaxAttempts()),
		Retry: RetryOf(in.GetRetry()), OnCrash: fairlead.OnCrash(in.GetOnCrash()), OnFail: fairlead.OnFail(in.GetOnFail()),
		Key: in.GetKey(), KeyScope: fairlead.KeyScope(in.GetKeyScope()), ConcurrencyKey: in.GetConcurrencyKey(), Trace: in.GetTrace(),
		Status: fairlead.Status{
			State: fairlead.State(in.GetState()), Attempt: int(in.GetAttempt()), Failures: int(in.GetFailures()), Crashes: int(in.GetCrashes()),
			Fence: in.GetFence(), CreatedAt: TimeOf(in.GetCreatedAt()), StartedAt: TimeOf(in.GetStartedAt()),
			Progress: in.GetProgress(), Memo: in.GetMemo(), Batch: in.GetBatchId(),
		},
	}
}

// NewJob converts a job to the form in which requests contain it.
func NewJob(job *fairlead.Job) *fairleadv1.NewJob {
	return &fairleadv1.NewJob{
		Kind: job.Kind, Args: job.Args, Queue: job.Queue, Tenant: job.Tenant, Priority: int32(job.Priority),
		NotBefore: Time(job.NotBefore), StartBy: Time(job.StartBy), Timeout: Duration(job.Timeout), MaxAttempts: int32(job.MaxAttempts),
		Retry: Retry(job.Retry), Key: job.Key, KeyScope: string(job.KeyScope), OnDuplicate: string(job.OnDuplicate),
		ConcurrencyKey: job.ConcurrencyKey, OnCrash: string(job.OnCrash), OnFail: string(job.OnFail), Trace: job.Trace,
	}
}

// NewJobOf converts a job from its form in requests.
func NewJobOf(in *fairleadv1.NewJob) *fairlead.Job {
	return &fairlead.Job{
		Kind: in.GetKind(), Args: in.GetArgs(), Queue: in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()),
		NotBefore: TimeOf(in.GetNotBefore()), StartBy: TimeOf(in.GetStartBy()), Timeout: in.GetTimeout().AsDuration(), MaxAttempts: int(in.GetMaxAttempts()),
		Retry: RetryOf(in.GetRetry()), Key: in.GetKey(), KeyScope: fairlead.KeyScope(in.GetKeyScope()), OnDuplicate: fairlead.OnDuplicate(in.GetOnDuplicate()),
		ConcurrencyKey: in.GetConcurrencyKey(), OnCrash: fairlead.OnCrash(in.GetOnCrash()), OnFail: fairlead.OnFail(in.GetOnFail()), Trace: in.GetTrace(),
	}
}

// Retry converts a retry policy to its API form. It returns nil if the job has no retry
// policy.
func Retry(retry *fairlead.Retry) *fairleadv1.Retry {
	if retry == nil {
		return nil
	}
	return &fairleadv1.Retry{Base: Duration(retry.Base), Factor: retry.Factor, Max: Duration(retry.Max), Precise: retry.Precise}
}

// RetryOf converts a retry policy from its API form.
func RetryOf(in *fairleadv1.Retry) *fairlead.Retry {
	if in == nil {
		return nil
	}
	return &fairlead.Retry{Base: in.GetBase().AsDuration(), Factor: in.GetFactor(), Max: in.GetMax().AsDuration(), Precise: in.GetPrecise()}
}
