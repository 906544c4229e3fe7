package openapi

import (
	"net/http"

	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// UploadPath is the URL path for creating a batch whose tasks are sent line by line. The
// request is not a single document, so no route can describe it.
const UploadPath = "/api/v1/batches/upload"

const (
	uploadName  = "UploadBatch"
	uploadRole  = "submitter"
	uploadAbout = "Creates a batch from a file with one task per line, up to a million, and starts it once all tasks are stored. " +
		"CSV requires a header that names the columns: target_id, target_name, target_type, target_env, before and after. " +
		"NDJSON has one task per line; the first line may be the batch. " +
		"With dry_run, nothing is stored: the response contains the number of tasks and the first ones, or the errors of invalid lines, at most 20."
	dryRunName  = "dry_run"
	dryRunAbout = "Only parse and validate the lines."
)

// eachUploaded calls do for each batch field that the query of an upload may contain, with
// its name in the query.
func eachUploaded(do func(name string, field protoreflect.FieldDescriptor)) {
	batch := (&fairleadv1.NewBatch{}).ProtoReflect().Descriptor()
	for i := range batch.Fields().Len() {
		field := batch.Fields().Get(i)
		switch name := string(field.Name()); name {
		case "tasks", "then":
		case "canary", "stop_after":
			for j := range field.Message().Fields().Len() {
				inner := field.Message().Fields().Get(j)
				do(name+"."+string(inner.Name()), inner)
			}
		default:
			do(name, field)
		}
	}
}

// upload returns the description of an upload.
func (d *describing) upload() object {
	var parameters []object
	eachUploaded(func(name string, field protoreflect.FieldDescriptor) {
		parameters = append(parameters, object{
			"name": name, "in": "query", "description": d.comments[string(field.FullName())], "schema": d.field(field),
		})
	})
	parameters = append(parameters, object{"name": dryRunName, "in": "query", "description": dryRunAbout, "schema": object{"type": "boolean"}})
	return object{
		"operationId": uploadName,
		"tags":        []string{"Batch"},
		"description": uploadAbout + " Requires the role " + uploadRole + ".",
		"parameters":  parameters,
		"requestBody": object{"required": true, "content": object{
			"text/csv":             object{"schema": object{"type": "string"}},
			"application/x-ndjson": object{"schema": d.message((&fairleadv1.NewTask{}).ProtoReflect().Descriptor())},
		}},
		"responses": object{
			"200": object{"description": "The batch was created. For a dry run: the batch is valid.", "content": object{"application/json": object{"schema": object{"anyOf": []object{
				d.message((&fairleadv1.Batch{}).ProtoReflect().Descriptor()), d.message((&fairleadv1.BatchPreview{}).ProtoReflect().Descriptor()),
			}}}}},
			"default": object{"description": "Description of the error.", "content": object{"application/problem+json": object{"schema": ref("Problem")}}},
		},
	}
}

// describeUpload returns the description of an upload for the reference page.
func describeUpload(known comments) operation {
	o := operation{Name: uploadName, Verb: http.MethodPost, Path: UploadPath, About: uploadAbout, Role: uploadRole, Answer: "Batch"}
	eachUploaded(func(name string, field protoreflect.FieldDescriptor) {
		o.Input = append(o.Input, input{Name: name, Place: "query", Type: typeName(field), About: known[string(field.FullName())]})
	})
	o.Input = append(o.Input, input{Name: dryRunName, Place: "query", Type: "boolean", About: dryRunAbout})
	return o
}
