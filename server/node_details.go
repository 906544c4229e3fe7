package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
)

const (
	maxNodeJobs = 100 // maximum number of jobs in a response about a node
	maxSameName = 20  // maximum number of other nodes in that response
)

// GetNode returns a node with its jobs and the other nodes of the same name.
func (s *Nodes) GetNode(ctx context.Context, in *fairleadv1.GetNodeRequest) (*fairleadv1.NodeDetails, error) {
	nodes, err := s.client.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n fairlead.Node) bool { return int64(n.ID) == in.GetId() })
	if i < 0 {
		return nil, fmt.Errorf("node %d: %w", in.GetId(), fairlead.ErrNotFound)
	}
	sweeps, err := s.sweepsOf(ctx, nodes[i:i+1])
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.NodeDetails{Node: nodeTo(nodes[i]), SameName: sameName(nodes, nodes[i])}
	out.Node.Sweeps = proto.Int32(int32(len(sweeps[nodes[i].ID])))
	return out, s.addJobs(ctx, out)
}

// sameName returns the other nodes with the name of a node, newest first.
func sameName(nodes []fairlead.Node, node fairlead.Node) (all []*fairleadv1.Node) {
	if node.Name == "" {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(nodes), func(n fairlead.Node) bool { return n.Name != node.Name || n.ID == node.ID })
	slices.SortFunc(others, func(a, b fairlead.Node) int { return cmp.Compare(b.ID, a.ID) })
	return items(others[:min(len(others), maxSameName)], nodeTo)
}

// addJobs adds the jobs of a node. Jobs that move between the two reads are left out.
func (s *Nodes) addJobs(ctx context.Context, out *fairleadv1.NodeDetails) error {
	node := fairlead.NodeID(out.GetNode().GetId())
	held, err := s.store.Held(ctx, node)
	if err != nil || len(held) == 0 {
		return err
	}
	out.RunningCount = int32(len(held))
	ids := make([]int64, len(held))
	for i, h := range held {
		ids[i] = h.ID
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(b, a) })
	ids = ids[:min(len(ids), maxNodeJobs)]
	page, err := s.client.Find(ctx, fairlead.Filter{IDs: ids, States: []fairlead.State{fairlead.Running}, Limit: len(ids)})
	for _, job := range page.Jobs {
		if job.Node == node {
			out.Running = append(out.Running, nodeJobTo(job))
		}
	}
	return err
}

func nodeJobTo(job *fairlead.Job) *fairleadv1.NodeJob {
	return &fairleadv1.NodeJob{
		Id: job.ID, Kind: job.Kind, Queue: job.Queue, Tenant: job.Tenant,
		Attempt: int32(job.Attempt), StartedAt: message.Time(job.StartedAt), CancelWish: job.CancelWish,
	}
}
