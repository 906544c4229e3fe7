package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/sweep"
)

// ExplainJob explains why a job is not running, or describes its current run.
func (s *Jobs) ExplainJob(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.Explanation, error) {
	why, err := s.client.Explain(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.addTimeout(ctx, &why); err != nil {
		return nil, err
	}
	return explanationTo(why), nil
}

// addTimeout adds the timeout of a run if the handler chooses it for each job, and if this
// server has the same handler.
func (s *Jobs) addTimeout(ctx context.Context, why *fairlead.Explanation) error {
	if why.Run == nil || s.kinds == nil {
		return nil
	}
	job, err := s.client.Get(ctx, why.ID)
	if err != nil {
		return err
	}
	if entry := s.kinds.Entry(job.Kind); entry != nil && entry.Options.TimeoutOf != nil && !sweep.IsShardKind(job.Kind) {
		why.Run.Timeout = verdict.Timeout(job, entry, why.Run.Timeout)
	}
	return nil
}

// ExplainSchedule explains when a schedule is due and what prevents it from starting runs.
func (s *Schedules) ExplainSchedule(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.Situation, error) {
	found, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return situationTo(s.client.Explain(ctx, found.ID))
}

// ExplainBatch explains what prevents a batch from making progress.
func (s *Batches) ExplainBatch(ctx context.Context, in *fairleadv1.GetBatchRequest) (*fairleadv1.Situation, error) {
	return situationTo(s.client.Explain(ctx, in.GetId()))
}

// ExplainSweep explains what prevents a sweep from making progress.
func (s *Sweeps) ExplainSweep(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.Situation, error) {
	found, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return situationTo(s.client.Explain(ctx, found.ID))
}

func situationTo(s fairlead.Situation, err error) (*fairleadv1.Situation, error) {
	if err != nil {
		return nil, err
	}
	return &fairleadv1.Situation{
		Id: s.ID, Name: s.Name, State: s.State, At: message.Time(s.At), Reasons: items(s.Reasons, obstacleTo), Jobs: items(s.Jobs, explanationTo),
	}, nil
}

func explanationTo(why fairlead.Explanation) *fairleadv1.Explanation {
	out := &fairleadv1.Explanation{
		Id: why.ID, State: string(why.State), At: message.Time(why.At), Ahead: int32(why.Ahead), Start: message.Time(why.Start),
		Obstacles: items(why.Obstacles, obstacleTo),
	}
	if share := why.Share; share != nil {
		out.Share = &fairleadv1.Share{Queue: share.Queue, Weight: int32(share.Weight), Entitled: share.Entitled, Had: share.Had, Text: share.Text}
	}
	if none := why.NoEstimate; none != nil {
		out.NoEstimate = &fairleadv1.NoEstimate{Reason: string(none.Reason), Newer: int32(none.Newer), Started: int32(none.Started), Text: none.Text}
	}
	if run := why.Run; run != nil {
		out.Run = &fairleadv1.CurrentRun{
			Node: int64(run.Node), Name: run.Name, Since: message.Time(run.Since), Timeout: message.Duration(run.Timeout),
			Crashes: int32(run.Crashes), LastBeat: message.Time(run.LastBeat), Lost: run.Lost, Stopping: run.Stopping,
		}
	}
	return out
}

func obstacleTo(o fairlead.Obstacle) *fairleadv1.Obstacle {
	return &fairleadv1.Obstacle{
		Code: string(o.Code), Scope: string(o.Scope), Name: o.Name, Used: int32(o.Used), Cap: int32(o.Cap), Until: message.Time(o.Until), By: o.By, Text: o.Text, Reason: o.Reason,
		Kinds: items(o.Kinds, func(k fairlead.KindCount) *fairleadv1.KindCount {
			return &fairleadv1.KindCount{Kind: k.Kind, Jobs: int32(k.Jobs)}
		}),
	}
}
