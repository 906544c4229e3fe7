package server

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// batchOf converts a request to a batch without tasks.
func batchOf(in *fairleadv1.NewBatch) (batch.Batch, error) {
	out := batch.Batch{
		Name: in.GetName(), Type: in.GetType(), Description: in.GetDescription(),
		Creator: in.GetCreator(), Env: in.GetEnv(), AZ: in.GetAz(), Service: in.GetService(), Info: in.GetInfo(),
		Queue: in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()),
		MaxRunning: int(in.GetMaxRunning()), Rate: in.GetRate(), Timeout: in.GetTimeout().AsDuration(),
		Canary:    batch.Canary{Tasks: int(in.GetCanary().GetTasks()), Ratio: in.GetCanary().GetRatio()},
		StopAfter: batch.Threshold{Failures: int(in.GetStopAfter().GetFailures()), Percent: in.GetStopAfter().GetPercent()},
		Notify:    in.GetNotify(),
	}
	switch region := in.GetRegion(); {
	case out.Queue == "":
		out.Queue = region
	case region != "" && region != out.Queue:
		return out, rest.InvalidField("region", fmt.Sprintf("is %q, but queue is %q; both names refer to the same field: set only one", region, out.Queue))
	}
	for _, then := range in.GetThen() {
		out.Then = append(out.Then, *message.NewJobOf(then.GetJob()))
	}
	return out, nil
}

// batchTo converts a batch to its API form at a time of the database's clock.
func batchTo(b *batch.Batch, now time.Time) *fairleadv1.Batch {
	done := b.Total - b.Tally.Open()
	out := &fairleadv1.Batch{
		Id: b.ID, Name: b.Name, Type: b.Type, Description: b.Description,
		Creator: b.Creator, Env: b.Env, Queue: b.Queue, Az: b.AZ, Service: b.Service, Info: b.Info, Tenant: b.Tenant, Priority: int32(b.Priority),
		MaxRunning: int32(b.MaxRunning), Rate: b.Rate, Timeout: message.Duration(b.Timeout), Notify: b.Notify,
		State: string(b.State()), Paused: b.Paused, Reason: b.Reason, Awaiting: b.Awaiting, Tally: tallyTo(b.Tally), Doubtful: int32(b.Doubtful),
		Total: proto.Int32(int32(b.Total)), Done: proto.Int32(int32(done)), Progress: proto.Float64(share(done, b.Total)), Completions: int32(b.Completions),
		CreatedAt: message.Time(b.CreatedAt), StartedAt: message.Time(b.StartedAt), EndedAt: message.Time(b.EndedAt),
	}
	if b.Canary != (batch.Canary{}) {
		out.Canary = &fairleadv1.Canary{Tasks: int32(b.Canary.Tasks), Ratio: b.Canary.Ratio}
	}
	if b.StopAfter != (batch.Threshold{}) {
		out.StopAfter = &fairleadv1.Threshold{Failures: int32(b.StopAfter.Failures), Percent: b.StopAfter.Percent}
	}
	for i := range b.Then {
		out.Then = append(out.Then, &fairleadv1.Then{Job: message.NewJob(&b.Then[i])})
	}
	out.Throughput = throughput(b, done, now)
	if left := b.Tally.Open(); out.GetThroughput() > 0 && left > 0 && !b.Paused && !b.Awaiting {
		out.Eta = message.Time(now.Add(time.Duration(float64(left) / out.GetThroughput() * float64(time.Second))))
	}
	return out
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// throughput returns the number of tasks that ended per second since the batch began,
// rounded to a thousandth. It returns zero if that number would be meaningless: no task has
// ended, or the batch was reopened, so that it was not active all the time.
func throughput(b *batch.Batch, done int, now time.Time) float64 {
	if b.StartedAt.IsZero() || len(b.Passes) > 1 || b.Completions > 1 {
		return 0
	}
	until := b.EndedAt
	if until.IsZero() {
		until = now
	}
	spent := until.Sub(b.StartedAt).Seconds()
	if spent <= 0 {
		return 0
	}
	return math.Round(float64(done)/spent*1000) / 1000
}

func tallyTo(t batch.Tally) *fairleadv1.Tally {
	n := func(n int) *int32 { return proto.Int32(int32(n)) }
	return &fairleadv1.Tally{
		Pending: n(t.Pending), Running: n(t.Running), Success: n(t.Success), Fail: n(t.Fail), RetryPending: n(t.RetryPending),
		RollbackPending: n(t.RollbackPending), RollbackRunning: n(t.RollbackRunning), RollbackSuccess: n(t.RollbackSuccess),
		RollbackFail: n(t.RollbackFail), Cancel: n(t.Cancel),
	}
}

// taskTo converts a task to its API form.
func taskTo(t batch.Task) *fairleadv1.BatchTask {
	return &fairleadv1.BatchTask{
		Id: t.ID, BatchId: t.Batch,
		Target: &fairleadv1.Target{Id: t.Target.ID, Name: t.Target.Name, Type: t.Target.Type, Env: t.Target.Env},
		Before: t.Before, After: t.After, State: string(t.State), JobId: t.Job, Info: t.Info, Retries: int32(t.Retries), UpdatedAt: message.Time(t.UpdatedAt),
		BatchType: t.BatchType, Creator: t.Creator, Env: t.Env, Region: t.Region, Doubtful: t.Doubtful,
	}
}
