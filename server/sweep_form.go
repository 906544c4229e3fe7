package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepOf converts a request to a sweep, without the fields that the server sets.
func sweepOf(in *fairleadv1.Sweep) sweep.Sweep {
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

// sweepTo converts a sweep to its API form at a time of the database's clock.
func sweepTo(s *sweep.Record, now time.Time) *fairleadv1.Sweep {
	n := func(n int) *int32 { return proto.Int32(int32(n)) }
	out := &fairleadv1.Sweep{
		Name: &s.Name, Kind: &s.Kind, Args: s.Data, Source: sourceTo(&s.Source), From: &s.From, To: &s.To,
		InFlight: n(s.InFlight), Rate: &s.Rate, Serial: &s.Serial, Adaptive: &s.Adaptive, Window: n(s.Window), Shards: n(s.Shards), PerCall: n(s.PerCall),
		Attempts: n(s.Attempts), Backoff: message.Duration(s.Backoff), Timeout: message.Duration(s.Timeout),
		ErrorBudget: &fairleadv1.ErrorBudget{Items: s.Budget.Items, Percent: s.Budget.Percent, PerMinute: s.Budget.PerMinute}, OnExhausted: given(string(s.OnExhausted)),
		Queue: &s.Queue, Tenant: &s.Tenant, Priority: n(s.Priority), Version: s.Version,
		State: string(s.State), Reason: s.Reason, Run: int32(s.Run),
		CreatedAt: message.Time(s.CreatedAt), StartedAt: message.Time(s.StartedAt), EndedAt: message.Time(s.EndedAt), AskedAt: message.Time(s.AskedAt),
	}
	if s.Gate.BeforeCreate != "" || s.Gate.BeforeRun != "" {
		out.Gate = &fairleadv1.SweepGate{BeforeCreate: s.Gate.BeforeCreate, BeforeRun: s.Gate.BeforeRun, Timeout: message.Duration(s.Gate.Timeout)}
	}
	if s.ID != 0 {
		out.Id, out.Progress = strconv.FormatInt(s.ID, 10), progressTo(&s.Sweep, now)
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

// progressTo returns the progress of a sweep.
func progressTo(s *sweep.Sweep, now time.Time) *fairleadv1.SweepProgress {
	p := &s.Progress
	out := &fairleadv1.SweepProgress{
		Total: &p.Total, Done: &p.Done, Abandoned: &p.Abandoned, Again: p.Again, Errors: &p.Errors, Marked: &p.Marked, InWindow: &p.InWindow, Rate: &p.Rate,
	}
	left := p.Total - p.Done - p.Abandoned + p.Again
	if s.State != sweep.Running || p.Rate <= 0 || left <= 0 {
		return out
	}
	if seconds := float64(left) / p.Rate; seconds < longestGuess.Seconds() {
		out.Eta = message.Time(now.Add(time.Duration(seconds * float64(time.Second))))
	}
	return out
}

// longestGuess is the remaining duration above which a finish time would be meaningless.
const longestGuess = 100 * 365 * 24 * time.Hour

// shardTo converts a shard to its API form.
func shardTo(s sweep.Shard) *fairleadv1.Shard {
	mark := s.Mark - s.Behind
	return &fairleadv1.Shard{
		Number: proto.Int32(int32(s.Number)), From: &s.From, To: &s.To, JobId: s.Job, Ended: &s.Ended,
		Mark: &mark, Done: &s.Done, Abandoned: &s.Abandoned, Again: s.Again, Errors: &s.Errors,
		Rate: s.Share.Rate, InFlight: int32(s.Share.InFlight), Measured: s.Measured, SavedAt: message.Time(s.SavedAt),
	}
}

// notSettings lists fields that a change may contain without effect.
var notSettings = []protoreflect.Name{
	"id", "version", "state", "reason", "run", "progress", "created_at", "started_at", "ended_at", "asked_at", "ref", "clear",
}

// patchSweep changes the fields of a sweep that are set in a request, and describes the
// changes.
func patchSweep(current sweep.Record, by *fairleadv1.Sweep) (changed sweep.Sweep, note string, err error) {
	asked := slices.Clone(by.GetClear())
	by.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !slices.Contains(notSettings, field.Name()) {
			asked = append(asked, string(field.Name()))
		}
		return true
	})
	switch {
	case slices.Contains(asked, "args"):
		return changed, "", rest.InvalidField("args", "cannot be changed with this method; use PUT /api/v1/sweeps/{id}/data")
	case len(asked) == 0:
		return changed, "", rest.InvalidField("rate", "is missing; set rate or another field to change")
	}
	patched := sweepTo(&current, current.CreatedAt)
	if err := clearFields(patched.ProtoReflect(), by.GetClear(), "a sweep"); err != nil {
		return changed, "", err
	}
	setFields(patched.ProtoReflect(), by.ProtoReflect())
	if !slices.Contains(asked, "window") && patched.GetInFlight() > patched.GetWindow() {
		patched.Window = nil // the default grows with it
	}
	if len(by.GetSource().GetList()) > 0 && !slices.Contains(asked, "to") {
		patched.To = nil // the end of the list
	}
	changed = sweepOf(patched)
	changed.ID = current.ID
	if by.GetVersion() == 0 {
		changed.Version = current.Version
	}
	return changed, noteOf(patched, asked), nil
}

// noteOf describes the new values of fields.
func noteOf(sweep *fairleadv1.Sweep, names []string) string {
	slices.Sort(names)
	message, parts := sweep.ProtoReflect(), []string{}
	for _, name := range slices.Compact(names) {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		switch {
		case field.Message() != nil:
			parts = append(parts, name)
		case !message.Has(field):
			parts = append(parts, name+" default")
		default:
			parts = append(parts, fmt.Sprintf("%s %v", name, message.Get(field).Interface()))
		}
	}
	return strings.Join(parts, ", ")
}
