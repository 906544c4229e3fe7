package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/sweep"
)

// Nodes implements the NodeService.
type Nodes struct {
	store  Store
	client *fairlead.Client
}

// NewNodes returns a NodeService backed by store.
func NewNodes(store Store) *Nodes { return &Nodes{store: store, client: fairlead.NewClient(store)} }

// ListNodes returns all live nodes, and the dead nodes that are still on record.
func (s *Nodes) ListNodes(ctx context.Context, _ *fairleadv1.ListNodesRequest) (*fairleadv1.ListNodesResponse, error) {
	nodes, err := s.client.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	sweeps, err := s.sweepsOf(ctx, nodes)
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.ListNodesResponse{}
	for i := range nodes {
		node := nodeTo(nodes[i])
		node.Sweeps = proto.Int32(int32(len(sweeps[nodes[i].ID])))
		out.Items = append(out.Items, node)
	}
	return out, nil
}

// sweepsOf returns, for each node, the sweeps with shards that the node processes.
func (s *Nodes) sweepsOf(ctx context.Context, nodes []fairlead.Node) (map[fairlead.NodeID]map[int64]bool, error) {
	var kinds []string
	for i := range nodes {
		for _, kind := range nodes[i].Kinds {
			if sweep.IsShardKind(kind) && !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) == 0 {
		return nil, nil
	}
	sweeps := map[fairlead.NodeID]map[int64]bool{}
	filter := fairlead.Filter{Kinds: kinds, States: []fairlead.State{fairlead.Running}, Limit: sweep.MaxShards}
	for {
		page, err := s.client.Find(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, job := range page.Jobs {
			if sweep := sweep.Of(job); sweep != 0 {
				if sweeps[job.Node] == nil {
					sweeps[job.Node] = map[int64]bool{}
				}
				sweeps[job.Node][sweep] = true
			}
		}
		if page.Next == 0 {
			return sweeps, nil
		}
		filter.Below = page.Next
	}
}

func nodeTo(n fairlead.Node) *fairleadv1.Node {
	return &fairleadv1.Node{
		Id: int64(n.ID), Name: n.Name, Address: n.Address, Version: n.Version, Slots: int32(n.Slots), IdleSlots: int32(n.Idle),
		Queued: int32(n.Queued), QueueCapacity: int32(n.Capacity), Kinds: n.Kinds, Queues: n.Queues,
		MaxSweeps: int32(n.MaxSweeps),
		JoinedAt:  message.Time(n.JoinedAt), LastBeat: message.Time(n.LastBeat), LeaseUntil: message.Time(n.Until), Draining: n.Draining, Dead: n.Dead, LeftAt: message.Time(n.LeftAt), Remote: n.Remote,
	}
}

// DrainNode requests that a node stop starting jobs or, to end a drain, start jobs again.
func (s *Nodes) DrainNode(ctx context.Context, in *fairleadv1.DrainNodeRequest) (*fairleadv1.DrainNodeResponse, error) {
	return &fairleadv1.DrainNodeResponse{}, s.client.Drain(ctx, fairlead.NodeID(in.GetId()), !in.GetUndo())
}
