package server

import (
	"context"
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/sweep"
)

// TriggerSchedule starts a run of the schedule now.
func (s *Schedules) TriggerSchedule(ctx context.Context, in *fairleadv1.TriggerScheduleRequest) (*fairleadv1.Run, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if who := caller.Of(ctx).Identity; schedule.Job.Kind == sweep.StartKind && len(in.GetArgs()) > 0 && !who.Role.May(access.RoleOperator) {
		return nil, caller.ErrRole(who.Role, access.RoleOperator) // other args can start another sweep
	}
	if err := scope.RefuseMasked(ctx, s.jobs.Confidential, "args", schedule.Job.Kind, in.GetArgs()); err != nil {
		return nil, err
	}
	fire, err := s.client.Trigger(ctx, schedule.ID, in.GetArgs())
	if err != nil {
		return nil, err
	}
	return runTo(fire), nil
}

// BackfillSchedule creates runs for a schedule's past instants.
func (s *Schedules) BackfillSchedule(ctx context.Context, in *fairleadv1.BackfillScheduleRequest) (*fairleadv1.BackfillScheduleResponse, error) {
	sc, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	done, err := s.client.Backfill(ctx, sc.ID, backfillOf(in))
	if err != nil {
		return nil, err
	}
	return &fairleadv1.BackfillScheduleResponse{Items: items(done.Runs, runTo), PassedOver: int32(done.PassedOver)}, nil
}

// PreviewBackfill returns the number of runs that a backfill would create.
func (s *Schedules) PreviewBackfill(ctx context.Context, in *fairleadv1.BackfillScheduleRequest) (*fairleadv1.PreviewBackfillResponse, error) {
	sc, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	preview, err := s.client.PreviewBackfill(ctx, sc.ID, backfillOf(in))
	if err != nil {
		return nil, err
	}
	answer := &fairleadv1.PreviewBackfillResponse{Runs: int32(len(preview.Instants)), PassedOver: int32(preview.PassedOver)}
	if n := len(preview.Instants); n > 0 {
		answer.First, answer.Last = message.Time(preview.Instants[0]), message.Time(preview.Instants[n-1])
	}
	return answer, nil
}

func backfillOf(in *fairleadv1.BackfillScheduleRequest) schedule.Backfill {
	return schedule.Backfill{From: message.TimeOf(in.GetFrom()), To: message.TimeOf(in.GetTo()), Serial: in.GetSerial(), Newest: in.GetNewestFirst(), Again: in.GetAgain()}
}

// ListRuns returns a schedule's runs, newest first.
func (s *Schedules) ListRuns(ctx context.Context, in *fairleadv1.ListRunsRequest) (*fairleadv1.ListRunsResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	fires, next, err := runPage(ctx, s.client, schedule.ID, below, pageSize(in.GetPageSize()))
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListRunsResponse{Items: items(fires, runTo), NextPageToken: pageToken(next)}, nil
}

// runPage returns a page of a schedule's runs, and the job ID below which the next page
// begins, or zero on the last page.
func runPage(ctx context.Context, client *schedule.Client, s, below int64, size int) (fires []schedule.Fire, next int64, err error) {
	fires, err = client.Fires(ctx, schedule.FireFilter{Schedule: s, Below: below, Limit: size + 1}) // one more to detect a next page
	fires, next = page(fires, size, func(fire schedule.Fire) int64 { return fire.Job })
	return fires, next, err
}

// recentRuns is the number of runs that a schedule's statistics cover.
const recentRuns = 1000

// GetScheduleStats returns statistics on a schedule's most recent runs.
func (s *Schedules) GetScheduleStats(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.ScheduleStats, error) {
	sc, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	fires, err := s.client.Fires(ctx, schedule.FireFilter{Schedule: sc.ID, Limit: recentRuns})
	if err != nil || len(fires) == 0 {
		return &fairleadv1.ScheduleStats{}, err
	}
	jobs, err := endsOf(ctx, s.jobs, fires)
	if err != nil {
		return nil, err
	}
	return statsOf(fires, jobs), nil
}

// endsOf returns the jobs of runs by ID, without their documents, which could be very large
// for so many jobs.
func endsOf(ctx context.Context, client *fairlead.Client, fires []schedule.Fire) (map[int64]*fairlead.Job, error) {
	jobs := make(map[int64]*fairlead.Job, len(fires))
	for some := range slices.Chunk(fires, idsAtOnce) {
		filter := fairlead.Filter{IDs: jobsOf(some), Limit: len(some)}
		for more := true; more; more = filter.Below > 0 {
			page, err := findPage(ctx, client, filter)
			if err != nil {
				return nil, err
			}
			for _, job := range page.Jobs {
				job.Args, job.Output, job.Progress, job.Told, job.Memo = nil, nil, nil, nil, nil
				jobs[job.ID] = job
			}
			filter.Below = page.Next
		}
	}
	return jobs, nil
}

// idsAtOnce is the number of jobs looked up together. Each query of a page includes all
// IDs, and MariaDB reads whole tables for a thousand of them.
const idsAtOnce = 100

func jobsOf(fires []schedule.Fire) []int64 {
	ids := make([]int64, len(fires))
	for i, f := range fires {
		ids[i] = f.Job
	}
	return ids
}

// statsOf computes statistics on runs.
func statsOf(fires []schedule.Fire, jobs map[int64]*fairlead.Job) *fairleadv1.ScheduleStats {
	out := &fairleadv1.ScheduleStats{Runs: int32(len(fires))}
	var took, late []time.Duration
	for _, f := range fires {
		switch {
		case f.Active():
			out.Active++
		case f.Skip != "" || f.State == fairlead.Skipped:
			out.Skipped++
		case f.Failed():
			out.Failed++
		default:
			out.Succeeded++
		}
		job := jobs[f.Job]
		if job == nil || job.StartedAt.IsZero() {
			continue
		}
		if !job.FinishedAt.IsZero() {
			took = append(took, job.FinishedAt.Sub(job.StartedAt))
		}
		// The start of a retry says nothing about lateness: it includes the retry delay.
		if f.Trigger == schedule.TriggerCron && f.Number <= 1 && job.Attempt <= 1 {
			late = append(late, job.StartedAt.Sub(f.Due))
		}
	}
	if ended := out.GetSucceeded() + out.GetFailed(); ended > 0 {
		rate := float64(out.GetSucceeded()) / float64(ended)
		out.SuccessRate = &rate
	}
	out.DurationP50, out.DurationP95, out.DurationMax = spread(took)
	out.LatenessP50, out.LatenessP95, out.LatenessMax = spread(late)
	return out
}

// spread returns the median, the 95th percentile and the maximum of durations.
func spread(all []time.Duration) (p50, p95, most *durationpb.Duration) {
	if len(all) == 0 {
		return nil, nil, nil
	}
	slices.Sort(all)
	at := func(share float64) *durationpb.Duration {
		return durationpb.New(all[int(math.Ceil(share*float64(len(all))))-1])
	}
	return at(0.5), at(0.95), at(1)
}
