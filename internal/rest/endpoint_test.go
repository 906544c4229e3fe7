package rest_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// The ways in which a service may implement ListQueues.
type (
	missing   struct{}
	whole     struct{ others }
	noRequest struct{ others }
	noMessage struct{ others }
	noContext struct{ others }
	noError   struct{ others }
	noAnswer  struct{ others }
	others    struct{}
)

func (others) PauseQueue(context.Context, *fairleadv1.QueueRequest) (*fairleadv1.QueueResponse, error) {
	return nil, fairleadErr
}

func (others) ResumeQueue(_ context.Context, in *fairleadv1.QueueRequest) (*fairleadv1.QueueResponse, error) {
	return &fairleadv1.QueueResponse{}, nil
}

func (whole) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) (*fairleadv1.ListQueuesResponse, error) {
	return &fairleadv1.ListQueuesResponse{Items: []*fairleadv1.Queue{{Name: "mail"}}}, nil
}
func (noRequest) ListQueues(context.Context) (*fairleadv1.ListQueuesResponse, error) { return nil, nil }
func (noMessage) ListQueues(context.Context, string) (*fairleadv1.ListQueuesResponse, error) {
	return nil, nil
}
func (noContext) ListQueues(*fairleadv1.ListQueuesRequest, context.Context) (*fairleadv1.ListQueuesResponse, error) {
	return nil, nil
}
func (noError) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) *fairleadv1.ListQueuesResponse {
	return nil
}
func (noAnswer) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) {}

var fairleadErr = context.Canceled

// A service that does not fit its schema is found when the program starts, and not when
// it is called.
func TestAServiceThatDoesNotFitItsSchemaIsRefused(t *testing.T) {
	service := fairleadv1.File_fairlead_v1_cluster_proto.Services().ByName("QueueService")
	for name, implementation := range map[string]any{
		"without the method": missing{}, "without a request": noRequest{}, "with another request": noMessage{}, "without a context first": noContext{},
		"without an error": noError{}, "without an answer": noAnswer{},
	} {
		if _, err := rest.Endpoints(service, implementation); err == nil || !strings.Contains(err.Error(), "fairlead.v1.QueueService.ListQueues") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	endpoints, err := rest.Endpoints(service, whole{})
	if err != nil || len(endpoints) != 3 {
		t.Fatalf("%d endpoints: %v", len(endpoints), err)
	}
	for _, e := range endpoints {
		answer, err := e.Call(t.Context(), e.Request())
		switch {
		case e.Method.Name() == "PauseQueue":
			if answer != nil || err == nil {
				t.Errorf("%s answers %v, %v", e.Method.Name(), answer, err)
			}
		case err != nil || proto.Size(answer) == 0 && e.Method.Name() == "ListQueues":
			t.Errorf("%s answers %v, %v", e.Method.Name(), answer, err)
		}
		if e.Access == nil {
			t.Errorf("%s does not say who may call it", e.Method.Name())
		}
	}
}
