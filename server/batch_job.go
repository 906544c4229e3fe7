package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/message"
)

// BatchJobs implements the BatchJobService, which offers the operations on batches under
// different names.
type BatchJobs struct {
	batches *Batches
}

// NewBatchJobs returns a BatchJobService that forwards to batches.
func NewBatchJobs(batches *Batches) *BatchJobs { return &BatchJobs{batches: batches} }

// CreateBatchJob stores a batch and its tasks.
func (s *BatchJobs) CreateBatchJob(ctx context.Context, in *fairleadv1.BatchJob) (*fairleadv1.CreateBatchJobResponse, error) {
	batch, changes, err := batchJobOf(in)
	if err != nil {
		return nil, err
	}
	stored, err := s.batches.create(ctx, batch, changes)
	if err != nil {
		return nil, renamed(err)
	}
	return &fairleadv1.CreateBatchJobResponse{BatchId: stored.ID, Status: string(stored.State())}, nil
}

// batchJobOf converts a request with the other names to a batch and its tasks.
func batchJobOf(in *fairleadv1.BatchJob) (*fairleadv1.NewBatch, []batch.Change, error) {
	refused := &fairlead.InvalidError{}
	refuse := func(field string, err error) {
		refused.Fields = append(refused.Fields, fairlead.FieldError{Field: field, Message: err.Error()})
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"batch_id", in.GetBatchId() != 0}, {"status", in.GetStatus() != ""}, {"next_page_token", in.GetNextPageToken() != ""}} {
		if f.set {
			refuse(f.name, errors.New("is set by the server; omit it"))
		}
	}
	info, err := opened(in.GetExtraInfo())
	if err != nil {
		refuse("extra_info", err)
	}
	changes := make([]batch.Change, len(in.GetTasks()))
	for i, task := range in.GetTasks() {
		change := &changes[i]
		change.Target = batch.Target{Name: task.GetTargetName(), Type: task.GetTargetType(), Env: task.GetTargetEnv()}
		if change.Target.ID, err = targetID(task.GetTargetId()); err != nil {
			refuse(fmt.Sprintf("tasks[%d].target_id", i), err)
		}
		if field, err := readParam(task.GetTargetParam(), change); err != nil {
			refuse(fmt.Sprintf("tasks[%d].target_param%s", i, field), err)
		}
	}
	if len(refused.Fields) > 0 {
		return nil, nil, refused
	}
	return &fairleadv1.NewBatch{
		Name: in.GetBatchName(), Type: in.GetBatchType(), Creator: in.GetCreator(), Service: in.GetCmdbService(), Env: in.GetEnv(),
		Queue: in.GetRegion(), Az: in.GetAz(), Info: info, Tenant: in.GetTenant(),
	}, changes, nil
}

// targetID reads a string or a number.
func targetID(raw []byte) (string, error) {
	var id any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&id); err != nil {
		return "", errors.New("is required")
	}
	switch id := id.(type) {
	case string:
		return id, nil
	case json.Number:
		return id.String(), nil
	}
	return "", errors.New("must be a string or a number")
}

// readParam reads the new and the previous state of a task's target. If it fails, field is
// the location of the error in the parameter.
func readParam(raw []byte, into *batch.Change) (field string, err error) {
	whole, err := opened(raw)
	if err != nil || whole == nil {
		return "", err
	}
	var halves map[string]json.RawMessage
	if err := json.Unmarshal(whole, &halves); err != nil {
		return "", errNoObject
	}
	for name, half := range halves {
		var to *json.RawMessage
		switch name {
		case "before_update":
			to = &into.Before
		case "after_update":
			to = &into.After
		default:
			return "." + name, errors.New("is not a known field; use before_update and after_update")
		}
		if *to, err = opened(half); err != nil {
			return "." + name, err
		}
	}
	return "", nil
}

var errNoObject = errors.New("must be an object, or a string that contains one")

// opened returns a JSON object that may be given as a string. It returns nil for an empty
// value and an empty object.
func opened(raw []byte) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		raw = bytes.TrimSpace([]byte(text))
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, errNoObject
	}
	if len(object) == 0 {
		return nil, nil
	}
	return raw, nil
}

// otherNames contains this service's names for fields in validation errors.
var otherNames = map[string]string{
	"name": "batch_name", "type": "batch_type", "service": "cmdb_service", "queue": "region", "info": "extra_info",
	"target.id": "target_id", "target.name": "target_name", "target.type": "target_type", "target.env": "target_env",
	"before": "target_param.before_update", "after": "target_param.after_update",
}

// renamed replaces the field names in an error by those of the request.
func renamed(err error) error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	out := &fairlead.InvalidError{}
	for _, f := range invalid.Fields {
		task, field, of := strings.Cut(f.Field, "].")
		if !of {
			task, field = "", f.Field
		} else {
			task += "]."
		}
		out.Fields = append(out.Fields, fairlead.FieldError{Field: task + otherName(field), Message: f.Message})
	}
	return out
}

// otherName returns this service's name for a field, or for the object that contains the
// field.
func otherName(field string) string {
	for end := len(field); end > 0; end = strings.LastIndexAny(field[:end], ".[") {
		if other, known := otherNames[field[:end]]; known {
			return other + field[end:]
		}
	}
	return field
}

// fewTasks is the default number of tasks returned with a batch.
const fewTasks = 1000

// GetBatchJob returns a batch and its tasks.
func (s *BatchJobs) GetBatchJob(ctx context.Context, in *fairleadv1.GetBatchJobRequest) (*fairleadv1.BatchJob, error) {
	after, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := int(in.GetPageSize())
	if size == 0 {
		size = fewTasks
	}
	stored, err := s.batches.client.Get(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	tasks, next, err := s.batches.tasks(ctx, batch.TaskFilter{Batch: stored.ID, After: after}, size)
	if err != nil {
		return nil, err
	}
	return batchJobTo(&stored, tasks, next)
}

// batchJobTo converts a batch to its API form under other names.
func batchJobTo(b *batch.Batch, tasks []batch.Task, next int64) (*fairleadv1.BatchJob, error) {
	updated := b.CreatedAt
	for i := range tasks {
		if at := tasks[i].UpdatedAt; at.After(updated) {
			updated = at
		}
	}
	if b.EndedAt.After(updated) {
		updated = b.EndedAt
	}
	out := &fairleadv1.BatchJob{
		BatchId: b.ID, BatchName: b.Name, BatchType: b.Type, Creator: b.Creator, CmdbService: b.Service, Env: b.Env, Region: b.Queue, Az: b.AZ,
		ExtraInfo: b.Info, Status: string(b.State()), Version: int64(b.Completions) + 1, CreateTime: message.Time(b.CreatedAt), UpdateTime: message.Time(updated),
		NextPageToken: pageToken(next), Tenant: b.Tenant,
	}
	for i := range tasks {
		task, err := batchJobTaskTo(b, &tasks[i])
		if err != nil {
			return nil, err
		}
		out.Tasks = append(out.Tasks, task)
	}
	return out, nil
}

func batchJobTaskTo(b *batch.Batch, t *batch.Task) (*fairleadv1.BatchJobTask, error) {
	id, err := json.Marshal(t.Target.ID)
	if err != nil {
		return nil, err
	}
	param, err := json.Marshal(struct {
		Before json.RawMessage `json:"before_update,omitempty"`
		After  json.RawMessage `json:"after_update,omitempty"`
	}{t.Before, t.After})
	if err != nil {
		return nil, err
	}
	return &fairleadv1.BatchJobTask{
		TaskId: t.ID, TargetId: id, TargetName: t.Target.Name, TargetType: t.Target.Type, TargetEnv: t.Target.Env, TargetParam: param,
		Status: string(t.State), Info: proto.String(t.Info), RetryTime: proto.Int32(int32(t.Retries)), Version: int64(t.Retries) + 1,
		CreateTime: message.Time(b.CreatedAt), UpdateTime: message.Time(t.UpdatedAt),
		BatchId: b.ID, BatchType: b.Type, Creator: b.Creator, Env: b.Env, Region: b.Queue,
	}, nil
}
