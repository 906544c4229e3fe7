package grpc

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	batchscheduler "github.com/fairlead-io/fairlead/api/batch_scheduler"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	triggerEvent = "/batch_scheduler.BatchSchedulerService/TriggerEvent"
	batchService = "/fairlead.v1.BatchService/"
)

// refused expects an event to be rejected with a code.
func refused(t *testing.T, conn *grpc.ClientConn, code codes.Code, about string, event *batchscheduler.TriggerEventRequest) {
	t.Helper()
	err := conn.Invoke(t.Context(), triggerEvent, event, &batchscheduler.TriggerEventResponse{})
	if got := status.Convert(err); got.Code() != code || !strings.Contains(got.Message(), about) {
		t.Errorf("%v is answered with %v, want %s about %q", event, err, code, about)
	}
}

func TestEventsCreateAndWakeBatches(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	const create = batchscheduler.EventType_CREATE_BATCH
	joined := call[fairleadv1.JoinWorkerResponse](t, conn, workerService+"JoinWorker", &fairleadv1.JoinWorkerRequest{Name: "painter", Kinds: []string{"wall.paint"}, Slots: 2})
	data, err := json.Marshal(map[string]any{
		"batch_name": "repaint", "batch_type": "paint", "tasks": []any{map[string]any{
			"target_id": 7, "target_type": "wall", "target_param": map[string]any{"before_update": map[string]any{"colour": "white"}, "after_update": map[string]any{"colour": "red"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	created := call[batchscheduler.TriggerEventResponse](t, conn, triggerEvent, &batchscheduler.TriggerEventRequest{EventType: create, ReqData: []byte("x"), JobData: data})
	id := created.GetBatchId()
	if id == 0 {
		t.Fatal("the batch has no id")
	}
	leased := leaseJobs(t, conn, joined.GetId(), joined.GetSession())
	if len(leased) != 1 {
		t.Fatalf("its one task becomes %v", leased)
	}
	job := leased[0]
	if job.GetBatchId() != id || job.GetKind() != "wall.paint" {
		t.Errorf("its task is %v", job)
	}
	call[fairleadv1.SettleJobsResponse](t, conn, workerService+"SettleJobs", &fairleadv1.SettleJobsRequest{
		Id: joined.GetId(), Session: joined.GetSession(), Settlements: []*fairleadv1.RunEnd{{Id: job.GetId(), Fence: job.GetFence(), Outcome: "succeed"}},
	})
	if woken := call[batchscheduler.TriggerEventResponse](t, conn, triggerEvent, &batchscheduler.TriggerEventRequest{EventType: create, BatchId: id}); woken.GetBatchId() != id {
		t.Errorf("woken, it answers %v", woken)
	}
	next := receive[fairleadv1.Batch](t.Context(), t, conn, batchService+"WatchBatch", &fairleadv1.GetBatchRequest{Id: id})
	last := &fairleadv1.Batch{}
	for batch, err := next(); err == nil; batch, err = next() {
		last = batch
	}
	if last.GetState() != "success" || last.GetTotal() != 1 {
		t.Errorf("it ended as %v", last)
	}
	refused(t, conn, codes.InvalidArgument, "batch_id", &batchscheduler.TriggerEventRequest{EventType: create, JobData: data, BatchId: id})
	refused(t, conn, codes.InvalidArgument, "event_type", &batchscheduler.TriggerEventRequest{BatchId: id})
	refused(t, conn, codes.InvalidArgument, "job_data", &batchscheduler.TriggerEventRequest{EventType: create})
	refused(t, conn, codes.InvalidArgument, "job_data", &batchscheduler.TriggerEventRequest{EventType: create, JobData: []byte("{")})
	refused(t, conn, codes.InvalidArgument, "job_data.batch_type", &batchscheduler.TriggerEventRequest{EventType: create, JobData: []byte(strings.Replace(string(data), "paint", "sand", 2))})
	refused(t, conn, codes.NotFound, "", &batchscheduler.TriggerEventRequest{EventType: create, BatchId: id + 1000})
}
