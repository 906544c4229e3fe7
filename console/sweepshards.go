package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// shardRow is a shard of a sweep, with its picture.
type shardRow struct {
	*fairleadv1.Shard
	Picture shardPicture
	Job     string // link to its job; empty = none
	Node    link   // node of its job; empty = unknown or none
}

// shardRows returns the shards of a sweep, and their number.
func (v *visit) shardRows(s *fairleadv1.Sweep) (rows []shardRow, all int, err error) {
	answer, err := v.sweeps.ListShards(v.ctx, &fairleadv1.GetSweepRequest{Id: s.GetId()})
	if err != nil {
		return nil, 0, err
	}
	shards := answer.GetItems()
	shown := shards[:min(len(shards), bulkWindow)]
	nodes := v.shardNodes(s, shown)
	for _, shard := range shown {
		row := shardRow{Shard: shard, Node: nodes[shard.GetJobId()]}
		row.Picture = pictureShard(shard.GetFrom(), shard.GetTo(), shard.GetMark(), shard.GetDone()+shard.GetAbandoned(), int64(s.GetWindow()))
		if shard.GetJobId() != 0 {
			row.Job = v.To("/jobs", shard.GetJobId())
		}
		rows = append(rows, row)
	}
	return rows, len(shards), nil
}

// shardNodes returns the nodes on which the jobs of shards run, by job. All these jobs have the
// kind of the first running one, so two queries suffice. It returns nil for viewers who may
// not see nodes.
func (v *visit) shardNodes(s *fairleadv1.Sweep, shards []*fairleadv1.Shard) map[int64]link {
	if v.Bound() || s.GetState() != "running" && s.GetState() != "stopping" {
		return nil
	}
	on := map[int64]link{}
	for _, shard := range shards {
		if shard.GetJobId() == 0 || shard.GetEnded() {
			continue
		}
		first, err := v.jobs.GetJob(v.ctx, &fairleadv1.GetJobRequest{Id: shard.GetJobId()})
		if err != nil {
			return nil // the job was just deleted; the next update shows the current state
		}
		running, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{
			Kind: []string{first.GetKind()}, State: []string{"running"}, Tenant: []string{s.GetTenant()}, PageSize: bulkWindow,
		})
		if err != nil {
			return nil
		}
		names, err := v.nodeNames()
		if err != nil {
			return nil
		}
		for _, job := range running.GetItems() {
			if job.GetNode() != 0 {
				on[job.GetId()] = v.nodeLink(names, job.GetNode())
			}
		}
		break
	}
	return on
}
