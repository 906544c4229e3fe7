package message

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/sweep"
)

// SweepOf converts a request to a sweep, without the fields that the server sets.
func SweepOf(in *fairleadv1.Sweep) sweep.Sweep {
	out := sweep.Sweep{
		Name: in.GetName(), Kind: in.GetKind(), Data: in.GetArgs(),
		Source: sweep.ItemSource{
			File: in.GetSource().GetFile(), URL: in.GetSource().GetUrl(), Listed: in.GetSource().GetListed(), Digest: in.GetSource().GetDigest(),
		},
		Items: in.GetSource().GetList(), From: in.GetFrom(), To: in.GetTo(),
		InFlight: int(in.GetInFlight()), Rate: in.GetRate(), Serial: in.GetSerial(), Adaptive: in.GetAdaptive(),
		Window: int(in.GetWindow()), Shards: int(in.GetShards()), PerCall: int(in.GetPerCall()),
		Attempts: int(in.GetAttempts()), Backoff: in.GetBackoff().AsDuration(), Timeout: in.GetTimeout().AsDuration(),
		Budget:      sweep.Budget{Items: in.GetErrorBudget().GetItems(), Percent: in.GetErrorBudget().GetPercent(), PerMinute: in.GetErrorBudget().GetPerMinute()},
		OnExhausted: sweep.OnExhausted(in.GetOnExhausted()),
		Gate: sweep.Gate{
			BeforeCreate: in.GetGate().GetBeforeCreate(), BeforeRun: in.GetGate().GetBeforeRun(), Timeout: in.GetGate().GetTimeout().AsDuration(),
		},
		Queue: in.GetQueue(), Tenant: in.GetTenant(), Priority: int(in.GetPriority()), Version: in.GetVersion(),
	}
	if t := in.GetSource().GetTable(); t != nil {
		out.Source.Table = &sweep.Table{Database: t.GetDatabase(), Name: t.GetName(), Key: t.GetKey(), Columns: t.GetColumns()}
	}
	return out
}

// Sweep converts a sweep to its API form at a time of the database's clock.
func Sweep(s *sweep.Record, now time.Time) *fairleadv1.Sweep {
	n := func(n int) *int32 { return proto.Int32(int32(n)) }
	out := &fairleadv1.Sweep{
		Name: &s.Name, Kind: &s.Kind, Args: s.Data, Source: sourceTo(&s.Source), From: &s.From, To: &s.To,
		InFlight: n(s.InFlight), Rate: &s.Rate, Serial: &s.Serial, Adaptive: &s.Adaptive, Window: n(s.Window), Shards: n(s.Shards), PerCall: n(s.PerCall),
		Attempts: n(s.Attempts), Backoff: Duration(s.Backoff), Timeout: Duration(s.Timeout),
		ErrorBudget: &fairleadv1.ErrorBudget{Items: s.Budget.Items, Percent: s.Budget.Percent, PerMinute: s.Budget.PerMinute}, OnExhausted: optional(string(s.OnExhausted)),
		Queue: &s.Queue, Tenant: &s.Tenant, Priority: n(s.Priority), Version: s.Version,
		State: string(s.State), Reason: s.Reason, Run: int32(s.Run),
		CreatedAt: Time(s.CreatedAt), StartedAt: Time(s.StartedAt), EndedAt: Time(s.EndedAt), AskedAt: Time(s.AskedAt),
	}
	if s.Gate.BeforeCreate != "" || s.Gate.BeforeRun != "" {
		out.Gate = &fairleadv1.SweepGate{BeforeCreate: s.Gate.BeforeCreate, BeforeRun: s.Gate.BeforeRun, Timeout: Duration(s.Gate.Timeout)}
	}
	if s.ID != 0 {
		out.Id, out.Progress = strconv.FormatInt(s.ID, 10), progressOf(&s.Sweep, now)
	}
	return out
}

func sourceTo(s *sweep.ItemSource) *fairleadv1.ItemSource {
	if *s == (sweep.ItemSource{}) {
		return nil
	}
	out := &fairleadv1.ItemSource{File: s.File, Url: s.URL, Listed: s.Listed, Digest: s.Digest}
	if t := s.Table; t != nil {
		out.Table = &fairleadv1.ItemTable{Database: t.Database, Name: t.Name, Key: t.Key, Columns: t.Columns}
	}
	return out
}

// progressOf returns the progress of a sweep.
func progressOf(s *sweep.Sweep, now time.Time) *fairleadv1.SweepProgress {
	p := &s.Progress
	out := &fairleadv1.SweepProgress{
		Total: &p.Total, Done: &p.Done, Abandoned: &p.Abandoned, Again: p.Again, Errors: &p.Errors, Marked: &p.Marked, InWindow: &p.InWindow, Rate: &p.Rate,
	}
	left := p.Total - p.Done - p.Abandoned + p.Again
	if s.State != sweep.Running || p.Rate <= 0 || left <= 0 {
		return out
	}
	if seconds := float64(left) / p.Rate; seconds < longestGuess.Seconds() {
		out.Eta = Time(now.Add(time.Duration(seconds * float64(time.Second))))
	}
	return out
}

// longestGuess is the remaining duration above which a finish time would be meaningless.
const longestGuess = 100 * 365 * 24 * time.Hour

// Shard converts a shard to its API form.
func Shard(s sweep.Shard) *fairleadv1.Shard {
	mark := s.Mark - s.Behind
	return &fairleadv1.Shard{
		Number: proto.Int32(int32(s.Number)), From: &s.From, To: &s.To, JobId: s.Job, Ended: &s.Ended,
		Mark: &mark, Done: &s.Done, Abandoned: &s.Abandoned, Again: s.Again, Errors: &s.Errors,
		Rate: s.Share.Rate, InFlight: int32(s.Share.InFlight), Measured: s.Measured, SavedAt: Time(s.SavedAt),
	}
}

// optional returns nil for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
