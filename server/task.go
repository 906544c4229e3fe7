package server

import (
	"context"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// taskBefore reads the task that a request is about to change, or nil for a new task.
func (s *services) taskBefore(ctx context.Context, request proto.Message) (proto.Message, error) {
	ref := ""
	switch about := request.(type) {
	case *fairleadv1.Task:
		ref = about.GetRef()
	case *fairleadv1.GetTaskRequest:
		ref = about.GetId()
	}
	if ref == "" {
		return nil, nil
	}
	return s.tasks.GetTask(ctx, &fairleadv1.GetTaskRequest{Id: ref})
}

// runBefore reads the run that a request is about to change.
func (s *services) runBefore(ctx context.Context, request proto.Message) (proto.Message, error) {
	about, ok := request.(*fairleadv1.CancelTaskRunRequest)
	if !ok {
		return nil, nil
	}
	return s.runs.GetTaskRun(ctx, &fairleadv1.GetTaskRunRequest{Id: about.GetId()})
}
