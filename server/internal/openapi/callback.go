package openapi

import "net/http"

// CallbackPath is the URL path that calls pass to their targets for callbacks. It is not a
// method of the schema: its callers have no role, only a token for one run of a job.
const CallbackPath = "/api/v1/callbacks/{job}"

const callbackAbout = "Reports the result or the progress of a waiting job, on behalf of the target of its call. Requires the callback token that the target received for this attempt."

// callbackFields lists the fields of a target's report.
var callbackFields = []struct{ name, kind, about string }{
	{"status", "string", "Type of the report: success, failure, progress or extend."},
	{"output", "", "For success: result of the job. For progress and extend: progress of the job."},
	{"error", "string", "For failure: error message."},
	{"extend_seconds", "number", "For extend and progress: time in seconds that the job waits from now on, at most its callback timeout."},
}

// callback returns the description of how targets answer for waiting jobs.
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
		"deadline": object{"type": "string", "format": "date-time", "description": "For progress and extend: time at which the job stops waiting."},
	}}
	described := func(operation string) object {
		return object{
			"operationId": operation,
			"tags":        []string{"Callback"},
			"description": callbackAbout,
			"parameters":  []object{{"name": "job", "in": "path", "required": true, "description": "ID of the job.", "schema": text}},
			"requestBody": object{"content": object{"application/json": object{"schema": object{"type": "object", "required": []string{"status"}, "properties": said}}}},
			"responses": object{
				"200":     object{"description": "The report was accepted, or repeats an earlier one.", "content": object{"application/json": object{"schema": answer}}},
				"400":     problem("The body is invalid."),
				"401":     problem("The token was not issued for this job."),
				"409":     problem("The job was already answered differently or was cancelled, or the token belongs to another attempt."),
				"410":     problem("The deadline has passed, or the token has expired."),
				"429":     problem("Too many requests with unknown tokens from this address."),
				"default": problem("Description of the error."),
			},
		}
	}
	return object{"post": described("Callback"), "put": described("PutCallback")}
}

// callbackGroup returns the same description for the reference page.
func callbackGroup() *group {
	call := operation{
		Name: "Callback", Verb: http.MethodPost, Path: CallbackPath, About: callbackAbout,
		Input: []input{{Name: "job", Place: "path", Type: "number", About: "ID of the job.", Required: true}},
	}
	for _, field := range callbackFields {
		kind := map[string]string{"string": "string", "number": "number", "": "JSON"}[field.kind]
		call.Input = append(call.Input, input{Name: field.name, Place: "body", Type: kind, About: field.about, Required: field.name == "status"})
	}
	put := call
	put.Name, put.Verb = "PutCallback", http.MethodPut
	return &group{Name: "Callbacks", About: "Receives the results of asynchronous HTTP calls from their targets.", Operations: []operation{call, put}}
}
