package workers

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// onShard is a request of a worker that processes a shard.
type onShard interface {
	inSession
	GetJob() int64
	GetFence() int64
}

// part contains the properties of a shard that do not change while a job processes it.
type part struct {
	sweep    int64
	number   int
	from, to int64 // to is zero while it is unknown
	serial   bool
}

// shardJob returns the job of a worker that processes a shard, and the shard.
func (s *Service) shardJob(ctx context.Context, in onShard) (*fairlead.Job, sweep.ShardArgs, error) {
	var args sweep.ShardArgs
	held := driver.Held{ID: in.GetJob(), Fence: in.GetFence()}
	own, err := s.ownJobs(ctx, fairlead.NodeID(in.GetId()), []*fairleadv1.RunEnd{{Id: held.ID, Fence: held.Fence}})
	if err != nil {
		return nil, args, err
	}
	job := own[held]
	if job == nil || job.State != fairlead.Running {
		return nil, args, fmt.Errorf("job %d: %w", held.ID, fairlead.ErrLeaseLost)
	}
	if !sweep.IsShardKind(job.Kind) || json.Unmarshal(job.Args, &args) != nil {
		return nil, args, rest.InvalidField("job", fmt.Sprintf("has kind %q, which does not process shards of a sweep", job.Kind))
	}
	return job, args, nil
}

// readShard reads the sweep and the shard that a job processes.
func (s *Service) readShard(ctx context.Context, job *fairlead.Job, args sweep.ShardArgs) (sweep.Record, sweep.Shard, error) {
	strange := rest.InvalidField("job", fmt.Sprintf("processes shard %d of sweep %d, but the shard no longer belongs to this job", args.Shard, args.Sweep))
	found, err := s.store.Sweeps(ctx, sweep.Filter{IDs: []int64{args.Sweep}})
	if err != nil {
		return sweep.Record{}, sweep.Shard{}, err
	}
	if len(found) == 0 {
		return sweep.Record{}, sweep.Shard{}, strange
	}
	sw := found[0]
	shards, err := s.store.Shards(ctx, args.Sweep)
	if err != nil {
		return sw, sweep.Shard{}, err
	}
	if args.Shard < 0 || args.Shard >= len(shards) || shards[args.Shard].Job != job.ID {
		return sw, sweep.Shard{}, strange
	}
	return sw, shards[args.Shard], nil
}

// partOf returns the known properties of the shard of a worker's job. Once the end of the
// shard is known, they are cached together with the job.
func (s *Service) partOf(ctx context.Context, in onShard) (*fairlead.Job, part, error) {
	job, args, err := s.shardJob(ctx, in)
	if err != nil {
		return nil, part{}, err
	}
	c := s.crewOf(fairlead.NodeID(in.GetId()))
	if known := c.part(heldOf(job)); known != nil {
		return job, *known, nil
	}
	sweep, shard, err := s.readShard(ctx, job, args)
	if err != nil {
		return nil, part{}, err
	}
	p := part{sweep: sweep.ID, number: shard.Number, from: shard.From, to: shard.To, serial: sweep.Serial}
	if p.to != 0 {
		c.keepPart(heldOf(job), p)
	}
	return job, p, nil
}

func (c *crew) part(held driver.Held) *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leases[held]; l != nil {
		return l.part
	}
	return nil
}

func (c *crew) keepPart(held driver.Held, p part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leases[held]; l != nil {
		l.part = &p
	}
}

// usedShare returns the share of the sweep's rate that a worker reports to use. A worker
// with orders to start nothing has no rate, even if items are still in progress: that does
// not mean an unlimited rate.
func (c *crew) usedShare(held driver.Held, in *fairleadv1.SaveShardRequest) sweep.Share {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := sweep.Share{Rate: in.GetRate(), InFlight: int(in.GetInFlight())}
	if l := c.leases[held]; l != nil && l.idle && used.Rate == 0 {
		used.Rate = sweep.LeastRate
	}
	return used
}

// tellShare records the orders for a worker.
func (c *crew) tellShare(held driver.Held, share sweep.Share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.leases[held]; l != nil {
		l.idle = share.InFlight == 0
	}
}

// LoadShard returns the shard that a job processes. If an earlier run had begun the shard,
// and the running sweep has a BeforeRun gate, LoadShard notifies the business system.
func (s *Service) LoadShard(ctx context.Context, in *fairleadv1.LoadShardRequest) (*fairleadv1.LoadShardResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	job, args, err := s.shardJob(ctx, in)
	if err != nil {
		return nil, err
	}
	sw, shard, err := s.readShard(ctx, job, args)
	if err != nil {
		return nil, err
	}
	if !shard.Ended && shard.Fence != job.Fence && (job.Attempt > 1 || job.Crashes > 0) {
		if err := sweep.Resume(ctx, s.store, sw.ID); err != nil {
			return nil, err
		}
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.LoadShardResponse{
		Sweep: message.Sweep(&sw, now), Number: proto.Int32(int32(shard.Number)), From: &shard.From, To: &shard.To,
		Mark: &shard.Mark, Window: shard.Window, Pending: shard.Pending, Source: shard.Source,
		Done: &shard.Done, Abandoned: &shard.Abandoned, Errors: &shard.Errors, Ended: shard.Ended,
		Again: &shard.Again,
	}, nil
}

// SaveShard stores a worker's progress on a shard.
func (s *Service) SaveShard(ctx context.Context, in *fairleadv1.SaveShardRequest) (*fairleadv1.SaveShardResponse, error) {
	ctx, cancel, err := s.enter(ctx, in)
	if err != nil {
		return nil, err
	}
	defer cancel()
	job, part, err := s.partOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := part.check(in); err != nil {
		return nil, err
	}
	aside, err := sweeping.DecodePending(in.GetPending()) // already validated by check
	if err != nil {
		return nil, err
	}
	failed, err := part.outcomes(in)
	if err != nil {
		return nil, err
	}
	crew := s.crewOf(fairlead.NodeID(in.GetId()))
	checkpoint := sweep.Checkpoint{
		Sweep: part.sweep, Job: job.ID, Fence: job.Fence, Number: part.number,
		To: in.GetTo(), Mark: in.GetMark(), Behind: sweeping.Behind(in.GetMark(), aside), Window: in.GetWindow(), Pending: in.GetPending(), Source: in.GetSource(),
		Done: in.GetDone(), Abandoned: in.GetAbandoned(), Errors: in.GetErrors(), Measured: in.GetMeasured(),
		Used: crew.usedShare(heldOf(job), in), Ended: in.GetEnded(),
		Failed: failed, Redone: in.GetRedone(), Again: in.GetAgain(),
	}
	orders, err := s.store.Checkpoint(ctx, checkpoint)
	if err != nil {
		return nil, err
	}
	if in.GetEnded() {
		_ = sweep.Steer(ctx, s.store, part.sweep) // otherwise a node does it soon
	} else if !orders.Stop && orders.Share.InFlight == 0 {
		if orders, err = s.askForShare(ctx, checkpoint); err != nil {
			return nil, err
		}
	}
	crew.tellShare(heldOf(job), orders.Share)
	return &fairleadv1.SaveShardResponse{
		Stop: &orders.Stop, Rate: &orders.Share.Rate, InFlight: proto.Int32(int32(orders.Share.InFlight)), Args: orders.Data, BudgetLeft: &orders.Left,
	}, nil
}

// askForShare redistributes the sweep's rate, so that a run gets the part that no other run
// uses. The outcomes of items were already stored.
func (s *Service) askForShare(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	checkpoint.Failed, checkpoint.Redone = nil, nil
	if err := sweep.Steer(ctx, s.store, checkpoint.Sweep); err != nil {
		return sweep.Orders{}, err
	}
	return s.store.Checkpoint(ctx, checkpoint)
}

// check rejects a state that no run can have reached, because no run could continue from
// there.
func (p *part) check(in *fairleadv1.SaveShardRequest) error {
	to := p.to
	if to == 0 {
		to = in.GetTo()
	}
	switch {
	case p.to != 0 && in.GetTo() != 0 && in.GetTo() != p.to:
		return rest.InvalidField("to", fmt.Sprintf("is %d, but was previously reported as %d", in.GetTo(), p.to))
	case to != 0 && to < p.from:
		return rest.InvalidField("to", fmt.Sprintf("is %d, but the shard begins at %d", to, p.from))
	case to != 0 && (in.GetDone() > to-p.from || in.GetAbandoned() > to-p.from-in.GetDone()):
		return rest.InvalidField("done", fmt.Sprintf("is %d with %d abandoned, but the shard has %d items", in.GetDone(), in.GetAbandoned(), to-p.from))
	case in.GetAgain() > in.GetAbandoned():
		return rest.InvalidField("again", fmt.Sprintf("is %d, but only %d items are abandoned", in.GetAgain(), in.GetAbandoned()))
	case !(in.GetRate() >= 0): // also rejects NaN
		return rest.InvalidField("rate", fmt.Sprintf("is %v; it must not be negative", in.GetRate()))
	case !(in.GetMeasured() >= 0):
		return rest.InvalidField("measured", fmt.Sprintf("is %v; it must not be negative", in.GetMeasured()))
	}
	for field, raw := range map[string][]byte{"pending": in.GetPending(), "source": in.GetSource()} {
		if err := fairlead.CheckJSON(field, raw); err != nil {
			return err
		}
	}
	aside, err := sweeping.DecodePending(in.GetPending())
	if err != nil {
		return rest.InvalidField("pending", fmt.Sprintf("is not a valid run state: %v", err))
	}
	if err := sweeping.Verify(p.from, to, in.GetMark(), in.GetWindow(), aside); err != nil {
		return rest.InvalidField("mark", "does not match the shard: "+err.Error())
	}
	if in.GetEnded() && in.GetAgain() > 0 {
		return rest.InvalidField("ended", fmt.Sprintf("is set, but %d items still have to be retried", in.GetAgain()))
	}
	if in.GetEnded() && !p.serial && (to == 0 || in.GetMark() != to || len(aside) > 0) {
		return rest.InvalidField("ended", fmt.Sprintf("is set, but the mark is %d; items up to %d are not done", in.GetMark(), to))
	}
	return nil
}
