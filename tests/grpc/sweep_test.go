package grpc

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/patience"
)

const sweepService = "/fairlead.v1.SweepService/"

// atLast watches a sweep until it is stopped or finished.
func atLast(t *testing.T, conn *grpc.ClientConn, id string) *fairleadv1.Sweep {
	t.Helper()
	next := receive[fairleadv1.Sweep](t.Context(), t, conn, sweepService+"WatchSweep", &fairleadv1.GetSweepRequest{Id: id})
	var last *fairleadv1.Sweep
	for {
		sweep, err := next()
		if err != nil {
			return last
		}
		last = sweep
	}
}

func TestASweepIsCreatedStartedWatchedAndStopped(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	made := call[fairleadv1.Sweep](t, conn, sweepService+"CreateSweep", &fairleadv1.Sweep{
		Name: proto.String("warm"), Kind: proto.String("noop"), Args: []byte(`{"cache":"eu"}`), To: proto.Int64(1_000_000_000), Rate: proto.Float64(1000), Shards: proto.Int32(2),
	})
	if made.GetState() != "created" || made.GetProgress().GetTotal() != 1_000_000_000 {
		t.Errorf("it is made as %v", made)
	}
	err := conn.Invoke(t.Context(), sweepService+"StopSweep", &fairleadv1.StopSweepRequest{Id: "warm"}, &fairleadv1.Sweep{})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("what does not run is stopped with %v", err)
	}
	if started := call[fairleadv1.Sweep](t, conn, sweepService+"StartSweep", &fairleadv1.GetSweepRequest{Id: "warm"}); started.GetState() != "running" {
		t.Errorf("it is started as %v", started)
	}
	next := receive[fairleadv1.Sweep](t.Context(), t, conn, sweepService+"WatchSweep", &fairleadv1.GetSweepRequest{Id: made.GetId()})
	for done := int64(0); done == 0; {
		seen, err := next()
		if err != nil {
			t.Fatal(err)
		}
		done = seen.GetProgress().GetDone()
	}
	call[fairleadv1.Sweep](t, conn, sweepService+"StopSweep", &fairleadv1.StopSweepRequest{Id: "warm", Reason: "lunch"})
	if stopped := atLast(t, conn, "warm"); stopped.GetState() != "stopped" || stopped.GetReason() != "lunch" {
		t.Errorf("it stopped as %v", stopped)
	}
}

// awaitShare saves a shard repeatedly until a node has granted it a share of the sweep's
// capacity.
func awaitShare(t *testing.T, conn *grpc.ClientConn, save *fairleadv1.SaveShardRequest) *fairleadv1.SaveShardResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for {
		orders := call[fairleadv1.SaveShardResponse](t, conn, workerService+"SaveShard", save)
		if orders.GetInFlight() > 0 || orders.GetStop() {
			return orders
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no node gives the shard a share: %v", orders)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A worker processes the shard of a sweep for which no node has a handler.
func TestAWorkerGoesOverASweepWithGRPC(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	joined := call[fairleadv1.JoinWorkerResponse](t, conn, workerService+"JoinWorker", &fairleadv1.JoinWorkerRequest{
		Name: "grpc-go", Kinds: []string{"sweep.greet"}, Lease: durationpb.New(lease),
	})
	id, session := joined.GetId(), joined.GetSession()
	call[fairleadv1.Sweep](t, conn, sweepService+"CreateSweep", &fairleadv1.Sweep{Name: proto.String("greetings"), Kind: proto.String("greet"), To: proto.Int64(100)})
	call[fairleadv1.Sweep](t, conn, sweepService+"StartSweep", &fairleadv1.GetSweepRequest{Id: "greetings"})
	leased := leaseJobs(t, conn, id, session)
	if len(leased) != 1 || leased[0].GetKind() != "sweep.greet" {
		t.Fatalf("leased %v", leased)
	}
	job, fence := leased[0].GetId(), leased[0].GetFence()
	shard := call[fairleadv1.LoadShardResponse](t, conn, workerService+"LoadShard", &fairleadv1.LoadShardRequest{Id: id, Session: session, Job: job, Fence: fence})
	if shard.GetFrom() != 0 || shard.GetTo() != 100 || shard.GetSweep().GetName() != "greetings" {
		t.Errorf("the shard is %v", shard)
	}
	save := &fairleadv1.SaveShardRequest{Id: id, Session: session, Job: job, Fence: fence, Mark: proto.Int64(0)}
	if orders := awaitShare(t, conn, save); orders.GetStop() || orders.GetInFlight() != 16 {
		t.Errorf("the orders are %v", orders)
	}
	call[fairleadv1.NoteItemsResponse](t, conn, workerService+"NoteItems", &fairleadv1.NoteItemsRequest{
		Id: id, Session: session, Job: job, Fence: fence, Lines: []*fairleadv1.LineNote{{Index: proto.Int64(7), Text: "no"}},
	})
	save.Mark, save.Done, save.Abandoned, save.Ended = proto.Int64(100), 99, 1, true
	call[fairleadv1.SaveShardResponse](t, conn, workerService+"SaveShard", save)
	call[fairleadv1.SettleJobsResponse](t, conn, workerService+"SettleJobs", &fairleadv1.SettleJobsRequest{
		Id: id, Session: session, Settlements: []*fairleadv1.RunEnd{{Id: job, Fence: fence, Outcome: "succeed"}},
	})
	if finished := atLast(t, conn, "greetings"); finished.GetState() != "finished" || finished.GetProgress().GetDone() != 99 || finished.GetProgress().GetAbandoned() != 1 {
		t.Errorf("it ended as %v", finished)
	}
	save.Mark = proto.Int64(50)
	if err := conn.Invoke(t.Context(), workerService+"SaveShard", save, &fairleadv1.SaveShardResponse{}); status.Code(err) != codes.Aborted {
		t.Errorf("what is over is saved with %v", err)
	}
}
