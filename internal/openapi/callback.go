package openapi

import "net/http"

// CallbackPath is what targets of calls are given. It is no method of the schema:
// who uses it has a token of one run of a job, and no role.
const CallbackPath = "/api/v1/callbacks/{job}"

const callbackAbout = "Reports the result or the progress of a job that waits for a callback. It requires the token that the target received for this run of the job."

// callbackFields are what a target can say.
var callbackFields = []struct{ name, kind, about string }{
	{"status", "string", "success, failure, progress or extend."},
	{"output", "", "With success: the output of the job. With progress and extend: the progress of the work."},
	{"error", "string", "With failure: the error message."},
	{"extend_seconds", "number", "With extend and progress: how long the job is to wait from now, at most its callback timeout."},
}

// callback describes how targets answer for jobs that wait.
func callback() object {
	problem := func(what string) object {
		return object{"description": what, "content": object{"application/problem+json": object{"schema": ref("Problem")}}}
	}
	text, said := object{"type": "string"}, object{}
	for _, field := range callbackFields {
		schema := object{"description": field.about}
		if field.kind != "" {
			schema["type"] = field.kind
		}
		said[field.name] = schema
	}
	answer := object{"type": "object", "properties": object{
		"job": text, "status": text,
		"deadline": object{"type": "string", "format": "date-time", "description": "With progress and extend: the end of the wait."},
	}}
	described := func(operation string) object {
		return object{
			"operationId": operation,
			"tags":        []string{"Callback"},
			"description": callbackAbout,
			"parameters":  []object{{"name": "job", "in": "path", "required": true, "description": "Id of the job.", "schema": text}},
			"requestBody": object{"content": object{"application/json": object{"schema": object{"type": "object", "required": []string{"status"}, "properties": said}}}},
			"responses": object{
				"200":     object{"description": "The answer was accepted, or it was the same as before.", "content": object{"application/json": object{"schema": answer}}},
				"400":     problem("The body is not valid."),
				"401":     problem("The token was not issued for this job."),
				"409":     problem("The job was answered differently or was cancelled, or the token belongs to another run."),
				"410":     problem("The deadline has passed, or the token is too old."),
				"429":     problem("Too many unknown tokens came from this address."),
				"default": problem("Description of the error."),
			},
		}
	}
	return object{"post": described("Callback"), "put": described("PutCallback")}
}

// callbackGroup is the same for people.
func callbackGroup() *group {
	call := operation{
		Name: "Callback", Verb: http.MethodPost, Path: CallbackPath, About: callbackAbout,
		Input: []input{{Name: "job", Place: "path", Type: "number", About: "Id of the job.", Required: true}},
	}
	for _, field := range callbackFields {
		kind := map[string]string{"string": "text", "number": "number", "": "JSON"}[field.kind]
		call.Input = append(call.Input, input{Name: field.name, Place: "body", Type: kind, About: field.about, Required: field.name == "status"})
	}
	put := call
	put.Name, put.Verb = "PutCallback", http.MethodPut
	return &group{Name: "Callbacks", About: "For the targets of calls.", Operations: []operation{call, put}}
}
