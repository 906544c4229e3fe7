package server_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// The same methods answer to each of the protocols that are served on the port.
func TestEachProtocolIsServed(t *testing.T) {
	plaintext := &http.Transport{Protocols: new(http.Protocols)}
	plaintext.Protocols.SetUnencryptedHTTP2(true)
	for name, options := range map[string][]connect.ClientOption{
		"gRPC":             {connect.WithGRPC()},
		"gRPC-Web":         {connect.WithGRPCWeb()},
		"Connect":          {},
		"Connect, as JSON": {connect.WithProtoJSON()},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			jobs := fairleadv1connect.NewJobServiceClient(&http.Client{Transport: plaintext}, a.url, options...)
			stored, err := jobs.EnqueueJobs(t.Context(), &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{{Kind: "noop", Tenant: "acme"}}})
			if err != nil {
				t.Fatal(err)
			}
			id := stored.GetIds()[0]
			job, err := jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: id})
			if err != nil || job.GetState() != "ready" || job.GetTenant() != "acme" {
				t.Fatalf("the job is %v (%v)", job, err)
			}
			watch, err := jobs.WatchJob(t.Context(), &fairleadv1.GetJobRequest{Id: id})
			if err != nil {
				t.Fatal(err)
			}
			var states []string
			for watch.Receive() {
				if states = append(states, watch.Msg().GetState()); len(states) == 1 {
					if _, err := jobs.CancelJob(t.Context(), &fairleadv1.CancelJobRequest{Id: id}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := strings.Join(states, " "); got != "ready cancelled" || watch.Err() != nil {
				t.Errorf("what was seen is %q (%v)", got, watch.Err())
			}
			_, err = jobs.GetJob(t.Context(), &fairleadv1.GetJobRequest{Id: 999})
			if connect.CodeOf(err) != connect.CodeNotFound {
				t.Errorf("an unknown job is %v", err)
			}
			_, err = jobs.EnqueueJobs(t.Context(), &fairleadv1.EnqueueJobsRequest{Jobs: []*fairleadv1.NewJob{{}}})
			wantField(t, err, "jobs[0].kind")
		})
	}
}

// wantField expects that one field was refused.
func wantField(t *testing.T, err error, want string) {
	t.Helper()
	failure := new(connect.Error)
	if connect.CodeOf(err) != connect.CodeInvalidArgument || !errors.As(err, &failure) {
		t.Fatalf("got %v, want an invalid argument", err)
	}
	for _, detail := range failure.Details() {
		value, err := detail.Value()
		if err != nil {
			t.Fatal(err)
		}
		if refusal, ok := value.(*errdetails.BadRequest); ok && refusal.GetFieldViolations()[0].GetField() == want {
			return
		}
	}
	t.Errorf("the details of %v do not name %s", err, want)
}
