package top

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// Source is a connection to the server that provides the data.
type Source struct {
	URL    string
	System fairleadv1connect.SystemServiceClient
	Queues fairleadv1connect.QueueServiceClient
	Nodes  fairleadv1connect.NodeServiceClient
	Jobs   fairleadv1connect.JobServiceClient
}

// Snapshot is the state of a cluster at one moment.
type Snapshot struct {
	At       time.Time
	Total    *fairleadv1.Usage
	Tenants  []*fairleadv1.Usage
	Queues   []*fairleadv1.Queue
	Nodes    []*fairleadv1.Node
	Failures []*fairleadv1.Job // newest first
}

// failures is the number of failed jobs to show.
const failures = 50

// Look reads the server's current state and returns it as a snapshot.
func (s Source) Look(ctx context.Context) (Snapshot, error) {
	var stats *fairleadv1.Stats
	var queues *fairleadv1.ListQueuesResponse
	var nodes *fairleadv1.ListNodesResponse
	var failed *fairleadv1.ListJobsResponse
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		stats, err = s.System.GetStats(ctx, &fairleadv1.GetStatsRequest{})
		return err
	})
	group.Go(func() (err error) {
		queues, err = s.Queues.ListQueues(ctx, &fairleadv1.ListQueuesRequest{})
		return err
	})
	group.Go(func() (err error) {
		nodes, err = s.Nodes.ListNodes(ctx, &fairleadv1.ListNodesRequest{})
		return err
	})
	group.Go(func() (err error) {
		failed, err = s.Jobs.ListJobs(ctx, &fairleadv1.ListJobsRequest{State: []string{"failed"}, PageSize: failures})
		return err
	})
	if err := group.Wait(); err != nil {
		return Snapshot{}, err
	}
	return Snapshot{
		At: time.Now(), Total: stats.GetTotal(), Tenants: stats.GetTenants(), Queues: queues.GetItems(), Nodes: nodes.GetItems(), Failures: failed.GetItems(),
	}, nil
}
