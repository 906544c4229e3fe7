package rpc_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/api/rpc"
)

func jobMethod(name protoreflect.Name) protoreflect.MethodDescriptor {
	return fairleadv1.File_fairlead_v1_job_proto.Services().ByName("JobService").Methods().ByName(name)
}

// getJob knows job 5, and refuses job 7 with a detail.
func getJob(_ context.Context, request proto.Message) (proto.Message, error) {
	id := request.(*fairleadv1.GetJobRequest).GetId()
	switch id {
	case 5:
		return &fairleadv1.Job{Id: id, Kind: "noop"}, nil
	case 6:
		return (*fairleadv1.Job)(nil), nil
	}
	refusal := connect.NewError(connect.CodeInvalidArgument, errors.New("not this one"))
	detail, err := connect.NewErrorDetail(&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "id"}}})
	if err != nil {
		return nil, err
	}
	refusal.AddDetail(detail)
	return nil, refusal
}

// watchJob sends a job twice.
func watchJob(_ context.Context, request proto.Message, send func(proto.Message) error) error {
	id := request.(*fairleadv1.GetJobRequest).GetId()
	return errors.Join(send(nil), send(&fairleadv1.Job{Id: id, State: "ready"}), send(&fairleadv1.Job{Id: id, State: "succeeded"}))
}

func serve(t *testing.T, options ...connect.HandlerOption) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(fairleadv1connect.JobServiceGetJobProcedure, rpc.NewHandler(jobMethod("GetJob"), getJob, options...))
	mux.Handle(fairleadv1connect.JobServiceWatchJobProcedure, rpc.NewStreamHandler(jobMethod("WatchJob"), watchJob, options...))
	web := httptest.NewUnstartedServer(mux)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(web.Close)
	return web.URL
}

func TestMethodsAreCalledByEachProtocol(t *testing.T) {
	url := serve(t)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	for name, options := range map[string][]connect.ClientOption{
		"gRPC":              {connect.WithGRPC()},
		"gRPC, as JSON":     {connect.WithGRPC(), connect.WithProtoJSON()},
		"gRPC-Web":          {connect.WithGRPCWeb()},
		"Connect":           {},
		"Connect, as JSON":  {connect.WithProtoJSON()},
		"Connect, with zip": {connect.WithSendGzip()},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := fairleadv1connect.NewJobServiceClient(&http.Client{Transport: transport}, url+"/", options...)
			job, err := jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: 5})
			if err != nil || job.GetId() != 5 || job.GetKind() != "noop" {
				t.Errorf("the job is %v (%v)", job, err)
			}
			if job, err := jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: 6}); err != nil || !proto.Equal(job, &fairleadv1.Job{}) {
				t.Errorf("an answer of nil is %v (%v), not an empty message", job, err)
			}
			job, err = jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: 7})
			var refusal *connect.Error
			if !errors.As(err, &refusal) || refusal.Code() != connect.CodeInvalidArgument || job != nil {
				t.Fatalf("job 7 is %v (%v), not refused", job, err)
			}
			if detail, err := refusal.Details()[0].Value(); err != nil || detail.(*errdetails.BadRequest).GetFieldViolations()[0].GetField() != "id" {
				t.Errorf("the detail is %v (%v)", detail, err)
			}
			stream, err := jobs.WatchJob(t.Context(), &fairleadv1.GetJobRequest{Id: 5})
			if err != nil {
				t.Fatal(err)
			}
			var seen []*fairleadv1.Job
			for stream.Receive() {
				seen = append(seen, stream.Msg())
			}
			if err := errors.Join(stream.Err(), stream.Close()); err != nil {
				t.Fatal(err)
			}
			if len(seen) != 2 || seen[0].GetState() != "ready" || seen[1].GetState() != "succeeded" {
				t.Errorf("the stream was %v", seen)
			}
		})
	}
}

// What a program without our Go code sends and gets is JSON as protobuf defines it.
func TestNothingOfTheBoxIsSeenOnTheWire(t *testing.T) {
	url := serve(t)
	answer, err := http.Post(url+fairleadv1connect.JobServiceGetJobProcedure, "application/json", strings.NewReader(`{"id":"5"}`)) //nolint:noctx // the server ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if text := strings.ReplaceAll(string(body), " ", ""); err != nil || text != `{"id":"5","kind":"noop"}` {
		t.Errorf("the answer is %s (%v)", body, err)
	}
}

func TestInterceptorsSeeTheMessagesThemselves(t *testing.T) {
	var served, called []string
	record := func(into *[]string) connect.Option {
		return connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
			return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
				asked, ok := rpc.Message(request.Any()).(*fairleadv1.GetJobRequest)
				if !ok || asked.GetId() != 5 || request.Spec().Schema != jobMethod("GetJob") {
					t.Errorf("the request is %v", request.Any())
				}
				answer, err := next(ctx, request)
				if err == nil {
					*into = append(*into, rpc.Message(answer.Any()).(*fairleadv1.Job).GetKind())
				}
				return answer, err
			}
		}))
	}
	url := serve(t, record(&served))
	jobs := fairleadv1connect.NewJobServiceClient(http.DefaultClient, url, record(&called))
	if _, err := jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: 5}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(served, " ") != "noop" || strings.Join(called, " ") != "noop" {
		t.Errorf("the server's interceptor saw %q and the client's %q", served, called)
	}
}

func TestWhatIsNoMessageIsNone(t *testing.T) {
	if rpc.Message("text") != nil || rpc.Message(nil) != nil {
		t.Error("a text is a message")
	}
	job := &fairleadv1.Job{Id: 5}
	if rpc.Message(job) != proto.Message(job) {
		t.Error("a message is not itself")
	}
}
