package openapi

// callbackPath is what targets of calls are given. It is no method of the schema:
// who uses it has a token of one run of a job, and no role.
const callbackPath = "/api/v1/callbacks/{job}"

// callback describes how targets answer for jobs that wait.
func callback() object {
	problem := func(what string) object {
		return object{"description": what, "content": object{"application/problem+json": object{"schema": ref("Problem")}}}
	}
	text := object{"type": "string"}
	return object{"post": object{
		"operationId": "Callback",
		"tags":        []string{"Callback"},
		"description": "What the target of a call says of a job that waits. It needs the token that the target was given for this run of the job.",
		"parameters":  []object{{"name": "job", "in": "path", "required": true, "description": "Id of the job.", "schema": text}},
		"requestBody": object{"content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"status"},
			"properties": object{
				"status":         object{"type": "string", "enum": []string{"success", "failure", "progress", "extend"}},
				"output":         object{"description": "Of a success: what the job leaves. Of progress and extend: how far the work is."},
				"error":          object{"type": "string", "description": "Of a failure: why."},
				"extend_seconds": object{"type": "number", "exclusiveMinimum": 0, "description": "Of extend and progress: for how long from now the job is to wait, at most as long as it waits for its callback."},
			},
		}}}},
		"responses": object{
			"200": object{"description": "It counts, or it was the same as before.", "content": object{"application/json": object{"schema": object{
				"type": "object", "properties": object{
					"job": text, "status": text,
					"deadline": object{"type": "string", "format": "date-time", "description": "Of progress and extend: when the wait ends."},
				},
			}}}},
			"400":     problem("The body cannot be taken."),
			"401":     problem("The token was not given out for this job."),
			"409":     problem("The job was answered differently, was cancelled, or this is the token of another run."),
			"410":     problem("The deadline has passed, or the token is too old."),
			"429":     problem("Too many unknown tokens came from this address."),
			"default": problem("What went wrong."),
		},
	}}
}
