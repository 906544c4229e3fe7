package worker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepOf is a sweep as its runs need it.
func sweepOf(in *fairleadv1.Sweep) (sweep.Sweep, error) {
	id, err := strconv.ParseInt(in.GetId(), 10, 64)
	if err != nil {
		return sweep.Sweep{}, fmt.Errorf("the service sent the sweep id %q, which is not a number", in.GetId())
	}
	out := sweep.Sweep{
		ID: id, Name: in.GetName(), Kind: in.GetKind(), Data: in.GetArgs(),
		Source: sweep.ItemSource{File: in.GetSource().GetFile(), URL: in.GetSource().GetUrl(), Listed: in.GetSource().GetListed()}, From: in.GetFrom(), To: in.GetTo(),
		InFlight: int(in.GetInFlight()), Rate: in.GetRate(), Serial: in.GetSerial(), Adaptive: in.GetAdaptive(),
		Window: int(in.GetWindow()), Shards: int(in.GetShards()), PerCall: int(in.GetPerCall()),
		Attempts: int(in.GetAttempts()), Backoff: in.GetBackoff().AsDuration(), Timeout: in.GetTimeout().AsDuration(),
		Budget:      sweep.Budget{Items: in.GetErrorBudget().GetItems(), Percent: in.GetErrorBudget().GetPercent(), PerMinute: in.GetErrorBudget().GetPerMinute()},
		OnExhausted: sweep.OnExhausted(in.GetOnExhausted()),
		Queue:       in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()), Version: in.GetVersion(),
		Status: sweep.Status{State: sweep.State(in.GetState()), Run: int(in.GetRun())},
	}
	if t := in.GetSource().GetTable(); t != nil {
		out.Source.Table = &sweep.Table{Database: t.GetDatabase(), Name: t.GetName(), Key: t.GetKey(), Columns: t.GetColumns()}
	}
	return out, nil
}

// shardOf is the shard of a job.
func shardOf(s int64, job *fairlead.Job, in *fairleadv1.LoadShardResponse) sweep.Shard {
	return sweep.Shard{
		Sweep: s, Number: int(in.GetNumber()), From: in.GetFrom(), To: in.GetTo(), Job: job.ID, Ended: in.GetEnded(),
		Mark: in.GetMark(), Window: in.GetWindow(), Pending: in.GetPending(), Source: in.GetSource(),
		Done: in.GetDone(), Abandoned: in.GetAbandoned(), Errors: in.GetErrors(),
		Again: in.GetAgain(),
	}
}

// failedNotes are items that failed for good.
func failedNotes(items []sweep.FailedItem) []*fairleadv1.FailedNote {
	notes := make([]*fairleadv1.FailedNote, len(items))
	for i := range items {
		notes[i] = &fairleadv1.FailedNote{Index: &items[i].Index, Attempts: int32(items[i].Attempts), Error: items[i].Error}
	}
	return notes
}

// levelTo is the level of a line without the steps between two of them, such as
// warn+1.
func levelTo(level string) string {
	if at := strings.IndexAny(level, "+-"); at >= 0 {
		level = level[:at]
	}
	return level
}
