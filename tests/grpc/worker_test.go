package grpc

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// worker is a remote worker that uses gRPC.
type worker struct {
	*testing.T
	conn    *grpc.ClientConn
	id      int64
	session string
}

func join(t *testing.T, conn *grpc.ClientConn) *worker {
	t.Helper()
	joined := call[fairleadv1.JoinWorkerResponse](t, conn, workerService+"JoinWorker", &fairleadv1.JoinWorkerRequest{Name: "grpc-go", Kinds: []string{"k"}, Slots: 2, Lease: durationpb.New(lease)})
	return &worker{T: t, conn: conn, id: joined.GetId(), session: joined.GetSession()}
}

// keepBeating sends beats until ctx ends, and forwards the jobs that must stop.
func (w *worker) keepBeating(ctx context.Context, stop chan<- *fairleadv1.StopJob) error {
	heard := []*fairleadv1.Lease{}
	for ctx.Err() == nil {
		answer := &fairleadv1.BeatWorkerResponse{}
		request := &fairleadv1.BeatWorkerRequest{Id: w.id, Session: w.session, Lease: durationpb.New(lease), Wait: durationpb.New(5 * time.Second), Heard: heard}
		if err := w.conn.Invoke(ctx, workerService+"BeatWorker", request, answer); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		heard = heard[:0]
		for _, job := range answer.GetCancel() {
			heard = append(heard, &fairleadv1.Lease{Id: job.GetId(), Fence: job.GetFence()})
			select {
			case stop <- job:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

func (w *worker) settle(end *fairleadv1.RunEnd) *fairleadv1.RunEnded {
	w.Helper()
	request := &fairleadv1.SettleJobsRequest{Id: w.id, Session: w.session, Settlements: []*fairleadv1.RunEnd{end}}
	return call[fairleadv1.SettleJobsResponse](w.T, w.conn, workerService+"SettleJobs", request).GetResults()[0]
}

func TestAWorkerWithGRPC(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	w := join(t, conn)
	beating, endBeats := context.WithCancel(t.Context())
	stop, beats := make(chan *fairleadv1.StopJob, 10), make(chan error, 1)
	go func() { beats <- w.keepBeating(beating, stop) }()

	stored := call[fairleadv1.EnqueueJobsResponse](t, conn, jobService+"EnqueueJobs", &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{
		{Kind: "k", Args: []byte(`{"n":1}`)}, {Kind: "k", MaxAttempts: 1}, {Kind: "k"},
	}})
	good, bad, wished := stored.GetIds()[0], stored.GetIds()[1], stored.GetIds()[2]

	// The first two jobs arrive through a long poll, the third through a stream.
	leased := leaseJobs(t, conn, w.id, w.session)
	if len(leased) != 2 || leased[0].GetId() != good || string(leased[0].GetArgs()) != `{"n":1}` {
		t.Fatalf("leased %v", leased)
	}
	call[fairleadv1.SaveProgressResponse](t, conn, workerService+"SaveProgress", &fairleadv1.SaveProgressRequest{
		Id: w.id, Session: w.session, Job: good, Fence: leased[0].GetFence(), Progress: []byte(`{"done":0.5}`),
	})
	if ended := w.settle(&fairleadv1.RunEnd{Id: good, Fence: leased[0].GetFence(), Outcome: "succeed", Output: []byte(`"out"`)}); ended.GetState() != "succeeded" {
		t.Errorf("the good one ended as %v", ended)
	}
	if ended := w.settle(&fairleadv1.RunEnd{Id: bad, Fence: leased[1].GetFence(), Outcome: "fail", Error: "boom"}); ended.GetState() != "failed" {
		t.Errorf("the bad one ended as %v", ended)
	}
	if job := final(t, conn, good); job.GetState() != "succeeded" || string(job.GetOutput()) != `"out"` || string(job.GetProgress()) != `{"done":0.5}` {
		t.Errorf("the good one is %v", job)
	}

	streaming, endStream := context.WithCancel(t.Context())
	defer endStream()
	next := receive[fairleadv1.Job](streaming, t, conn, workerService+"StreamJobs", &fairleadv1.StreamJobsRequest{Id: w.id, Session: w.session})
	job, err := next()
	if err != nil || job.GetId() != wished {
		t.Fatalf("streamed %v (%v)", job, err)
	}
	call[fairleadv1.Job](t, conn, jobService+"CancelJob", &fairleadv1.CancelJobRequest{Id: wished, Reason: "enough"})
	if told := <-stop; told.GetId() != wished || told.GetFence() != job.GetFence() || told.GetReason() != "cancelled" {
		t.Errorf("to stop: %v", told)
	}
	if ended := w.settle(&fairleadv1.RunEnd{Id: wished, Fence: job.GetFence(), Outcome: "fail", Error: "stopped"}); ended.GetResult() != "cancelled" {
		t.Errorf("the cancelled one ended as %v", ended)
	}
	if late := w.settle(&fairleadv1.RunEnd{Id: bad, Fence: leased[1].GetFence() + 1000, Outcome: "succeed"}); late.GetResult() != "lost" {
		t.Errorf("another fence is %v", late)
	}
	endStream()
	endBeats()
	if err := <-beats; err != nil {
		t.Error(err)
	}
	call[fairleadv1.LeaveWorkerResponse](t, conn, workerService+"LeaveWorker", &fairleadv1.LeaveWorkerRequest{Id: w.id, Session: w.session})
}

// A worker that stops beating loses its jobs to the next one.
func TestASilentWorkerIsReaped(t *testing.T) {
	tier.Long(t, "waits for leases to end, and the service gives the database no longer than its lease")
	t.Parallel()
	conn := connect(t, "--lease", "10s") // the node checks for silent workers four times per lease
	silent := join(t, conn)
	id := call[fairleadv1.EnqueueJobsResponse](t, conn, jobService+"EnqueueJobs", &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{{Kind: "k"}}}).GetIds()[0]
	first := leaseJobs(t, conn, silent.id, silent.session)
	call[fairleadv1.BeatWorkerResponse](t, conn, workerService+"BeatWorker", &fairleadv1.BeatWorkerRequest{Id: silent.id, Session: silent.session, Lease: durationpb.New(500 * time.Millisecond)}) // its last
	next := join(t, conn)
	beating, endBeats := context.WithCancel(t.Context())
	beats := make(chan error, 1)
	go func() { beats <- next.keepBeating(beating, nil) }()
	second := leaseJobs(t, conn, next.id, next.session)
	if len(second) != 1 || second[0].GetId() != id || second[0].GetFence() <= first[0].GetFence() || second[0].GetAttempt() != 2 {
		t.Fatalf("the next worker leased %v", second)
	}
	if late := silent.settle(&fairleadv1.RunEnd{Id: id, Fence: first[0].GetFence(), Outcome: "succeed"}); late.GetResult() != "lost" {
		t.Errorf("a late result is %v", late)
	}
	err := conn.Invoke(t.Context(), workerService+"BeatWorker", &fairleadv1.BeatWorkerRequest{Id: silent.id, Session: silent.session}, &fairleadv1.BeatWorkerResponse{})
	if status.Code(err) != codes.Aborted {
		t.Errorf("a dead worker's beat is %v", err)
	}
	err = conn.Invoke(t.Context(), workerService+"BeatWorker", &fairleadv1.BeatWorkerRequest{Id: next.id, Session: silent.session}, &fairleadv1.BeatWorkerResponse{})
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("another's session is %v", err)
	}
	if ended := next.settle(&fairleadv1.RunEnd{Id: id, Fence: second[0].GetFence(), Outcome: "succeed"}); ended.GetState() != "succeeded" {
		t.Errorf("it ended as %v", ended)
	}
	endBeats()
	if err := <-beats; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
