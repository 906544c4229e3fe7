package rest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Correct and wrong ways in which a service may implement ListQueues.
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
	return nil, errPaused
}

func (others) ResumeQueue(_ context.Context, _ *fairleadv1.QueueRequest) (*fairleadv1.QueueResponse, error) {
	return &fairleadv1.QueueResponse{}, nil
}

func (whole) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) (*fairleadv1.ListQueuesResponse, error) {
	return &fairleadv1.ListQueuesResponse{Items: []*fairleadv1.Queue{{Name: "mail"}}}, nil
}

func (noRequest) ListQueues(context.Context) (*fairleadv1.ListQueuesResponse, error) { return nil, nil }

func (noMessage) ListQueues(context.Context, string) (*fairleadv1.ListQueuesResponse, error) {
	return nil, nil
}

//nolint:revive // this order is what the test is about
func (noContext) ListQueues(*fairleadv1.ListQueuesRequest, context.Context) (*fairleadv1.ListQueuesResponse, error) {
	return nil, nil
}

func (noError) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) *fairleadv1.ListQueuesResponse {
	return nil
}
func (noAnswer) ListQueues(context.Context, *fairleadv1.ListQueuesRequest) {}

var errPaused = errors.New("it cannot be paused")

// A service that does not match its schema is detected when the program starts, not when it
// is called.
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

// serviceOf returns a service with one method.
func serviceOf(t *testing.T, options *descriptorpb.MethodOptions) protoreflect.ServiceDescriptor {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("test.proto"), Package: proto.String("test"), Syntax: proto.String("proto3"), Dependency: []string{"fairlead/v1/cluster.proto"},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{{
			Name: proto.String("ListQueues"), InputType: proto.String(".fairlead.v1.ListQueuesRequest"), OutputType: proto.String(".fairlead.v1.ListQueuesResponse"), Options: options,
		}}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return file.Services().Get(0)
}

// A method missing from the table of roles must not be served.
func TestAMethodThatDoesNotSayWhoMayCallItIsRefused(t *testing.T) {
	if _, err := rest.Endpoints(serviceOf(t, nil), whole{}); err == nil || !strings.Contains(err.Error(), "the method has no access rule") {
		t.Errorf("got %v", err)
	}
	options := &descriptorpb.MethodOptions{}
	proto.SetExtension(options, fairleadv1.E_Access, &fairleadv1.Access{Role: "viewer"})
	if _, err := rest.Endpoints(serviceOf(t, options), whole{}); err != nil {
		t.Error(err)
	}
}

// The program reads routes from the schema when it starts, and rejects invalid ones at that
// point.
func TestARouteThatCannotBeServedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		rule *annotations.HttpRule
		want string
	}{
		"another verb":        {&annotations.HttpRule{Pattern: &annotations.HttpRule_Custom{Custom: &annotations.CustomHttpPattern{Kind: "HEAD", Path: "/x"}}}, "the annotation has no supported verb"},
		"a part as the body":  {&annotations.HttpRule{Pattern: &annotations.HttpRule_Post{Post: "/x"}, Body: "items"}, `the body is "items"; it must be "*" or empty`},
		"an unknown field":    {&annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: "/x/{colour}"}}, "names colour"},
		"an additional route": {&annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: "/x"}, AdditionalBindings: []*annotations.HttpRule{{}}}, "the annotation has no supported verb"},
		"one that can be":     {&annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: "/x"}}, ""},
		"none":                {nil, ""},
	} {
		options := &descriptorpb.MethodOptions{}
		if c.rule != nil {
			proto.SetExtension(options, annotations.E_Http, c.rule)
		}
		routes, err := rest.Routes([]*rest.Endpoint{{Method: serviceOf(t, options).Methods().Get(0)}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, routes, err)
		}
	}
}
