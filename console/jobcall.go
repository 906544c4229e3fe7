package console

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// httpCall is the stored part of a job's last HTTP call. Secrets were removed before it was
// stored.
type httpCall struct {
	Status     int          `json:"status"`
	DurationMS int64        `json:"duration_ms"`
	Class      string       `json:"error_class"`
	Error      string       `json:"error"`
	Request    httpMessage  `json:"request"`
	Response   *httpMessage `json:"response"`
}

// httpMessage is a request or a response.
type httpMessage struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	Truncated bool              `json:"truncated"`
}

// Took returns the duration of the call.
func (c *httpCall) Took() time.Duration { return time.Duration(c.DurationMS) * time.Millisecond }

// Names returns the sorted names of the headers.
func (m httpMessage) Names() []string { return slices.Sorted(maps.Keys(m.Headers)) }

// Bytes returns the body, for display as a document.
func (m httpMessage) Bytes() []byte { return []byte(m.Body) }

// callOf returns the last call of a job, or nil if it made none. The call is the job's
// output if it succeeded at once, and otherwise its progress.
func callOf(job *fairleadv1.Job) *httpCall {
	for _, document := range [][]byte{job.GetReported(), job.GetProgress(), job.GetOutput()} {
		var call httpCall
		if len(document) > 0 && json.Unmarshal(document, &call) == nil && call.Request.Method != "" && call.Request.URL != "" {
			return &call
		}
	}
	return nil
}
