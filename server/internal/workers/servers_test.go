package workers

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sweep"
)

// Each call of a worker may go to another server, which knows nothing of the ones before.
func TestAWorkerMayCallAnotherServerEachTime(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	another := func() *Service { return New(store, Options{Grace: time.Hour}, nil) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	joined, err := another().JoinWorker(ctx, &fairleadv1.JoinWorkerRequest{Kinds: []string{"k", "sweep.k"}, Slots: 2})
	must(err)
	id, session := joined.GetId(), joined.GetSession()
	client, sweeps := fairlead.NewClient(store), sweep.NewClient(store)
	job := &fairlead.Job{Kind: "k"}
	must(client.Enqueue(ctx, job))
	sw, err := sweeps.Put(ctx, sweep.Sweep{Name: "s", Kind: "k", To: 100})
	must(err)
	_, err = sweeps.Start(ctx, sw.ID, "")
	must(err)
	leased, err := another().LeaseJobs(ctx, &fairleadv1.LeaseJobsRequest{Id: id, Session: session})
	must(err)
	if len(leased.GetJobs()) != 2 {
		t.Fatalf("leased %v", leased)
	}
	fences := map[string]*fairleadv1.Job{}
	for _, job := range leased.GetJobs() {
		fences[job.GetKind()] = job
	}
	must(client.Cancel(ctx, job.ID, "enough"))
	beaten, err := another().BeatWorker(ctx, &fairleadv1.BeatWorkerRequest{Id: id, Session: session})
	must(err)
	if stops := beaten.GetCancel(); len(stops) != 1 || stops[0].GetId() != job.ID || stops[0].GetReason() != stopCancelled {
		t.Errorf("it is to stop %v", stops)
	}
	shard := fences["sweep.k"]
	for mark := range int64(3) {
		orders, err := another().SaveShard(ctx, &fairleadv1.SaveShardRequest{Id: id, Session: session, Job: shard.GetId(), Fence: shard.GetFence(), Mark: proto.Int64(mark), Done: mark})
		if err != nil || orders.GetStop() {
			t.Errorf("its orders are %v, %v", orders, err)
		}
	}
	settled, err := another().SettleJobs(ctx, &fairleadv1.SettleJobsRequest{Id: id, Session: session, Settlements: []*fairleadv1.RunEnd{
		{Id: job.ID, Fence: fences["k"].GetFence(), Outcome: outcomeFail, Error: "stopped"},
		{Id: shard.GetId(), Fence: shard.GetFence(), Outcome: outcomeSucceed},
	}})
	must(err)
	if results := settled.GetResults(); results[0].GetResult() != resultCancelled || results[1].GetResult() != resultAsAsked {
		t.Errorf("they ended as %v", results)
	}
}
