package grpc

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/patience"
)

const (
	jobService    = "/fairlead.v1.JobService/"
	workerService = "/fairlead.v1.WorkerService/"
)

// call calls a method by name.
func call[T any, P interface {
	*T
	proto.Message
}](t *testing.T, conn *grpc.ClientConn, method string, request proto.Message) P {
	t.Helper()
	answer := P(new(T))
	if err := conn.Invoke(t.Context(), method, request, answer); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return answer
}

// receive opens a stream of responses. The returned function returns the next response.
func receive[T any, P interface {
	*T
	proto.Message
}](ctx context.Context, t *testing.T, conn *grpc.ClientConn, method string, request proto.Message) (next func() (P, error)) {
	t.Helper()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if err := stream.SendMsg(request); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return func() (P, error) {
		answer := P(new(T))
		return answer, stream.RecvMsg(answer)
	}
}

// leaseJobs requests jobs until some are available.
func leaseJobs(t *testing.T, conn *grpc.ClientConn, id int64, session string) []*fairleadv1.Job {
	t.Helper()
	request := &fairleadv1.LeaseJobsRequest{Id: id, Session: session, Wait: durationpb.New(20 * time.Second)}
	for deadline := time.Now().Add(patience.Limit); time.Now().Before(deadline); {
		if jobs := call[fairleadv1.LeaseJobsResponse](t, conn, workerService+"LeaseJobs", request).GetJobs(); len(jobs) > 0 {
			return jobs
		}
	}
	t.Fatalf("worker %d gets no job", id)
	return nil
}

// final watches a job until it reaches a final state.
func final(t *testing.T, conn *grpc.ClientConn, id int64) *fairleadv1.Job {
	t.Helper()
	next := receive[fairleadv1.Job](t.Context(), t, conn, jobService+"WatchJob", &fairleadv1.GetJobRequest{Id: id})
	var last *fairleadv1.Job
	for {
		job, err := next()
		if err != nil {
			return last
		}
		last = job
	}
}
