package openapi

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// UploadPath is where batches are created whose tasks come line by line. It takes
// no document, so that no route can say what it takes.
const UploadPath = "/api/v1/batches/upload"

// upload describes how tasks are uploaded.
func (d *describing) upload() object {
	batch := (&fairleadv1.NewBatch{}).ProtoReflect().Descriptor()
	var parameters []object
	add := func(prefix string, field protoreflect.FieldDescriptor) {
		parameters = append(parameters, object{
			"name": prefix + string(field.Name()), "in": "query", "description": d.comments[string(field.FullName())], "schema": d.field(field),
		})
	}
	for i := range batch.Fields().Len() {
		field := batch.Fields().Get(i)
		switch field.Name() {
		case "tasks", "then":
		case "canary", "stop_after":
			for j := range field.Message().Fields().Len() {
				add(string(field.Name())+".", field.Message().Fields().Get(j))
			}
		default:
			add("", field)
		}
	}
	return object{
		"operationId": "UploadBatch",
		"tags":        []string{"Batch"},
		"description": "Stores a batch whose tasks come line by line, up to a million, and lets it begin when all are stored. " +
			"CSV has a header that names its columns: target_id, target_name, target_type, target_env, before and after. " +
			"NDJSON has a task per line; its first line may be the batch. Needs the role submitter.",
		"parameters": parameters,
		"requestBody": object{"required": true, "content": object{
			"text/csv":             object{"schema": object{"type": "string"}},
			"application/x-ndjson": object{"schema": d.message((&fairleadv1.NewTask{}).ProtoReflect().Descriptor())},
		}},
		"responses": object{
			"200":     object{"description": "All is stored.", "content": object{"application/json": object{"schema": d.message((&fairleadv1.Batch{}).ProtoReflect().Descriptor())}}},
			"default": object{"description": "What went wrong.", "content": object{"application/problem+json": object{"schema": ref("Problem")}}},
		},
	}
}
