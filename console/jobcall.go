package console

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// httpCall is what is kept of the last HTTP call of a job: secrets were left out when it
// was stored.
type httpCall struct {
	Status     int          `json:"status"`
	DurationMS int64        `json:"duration_ms"`
	Class      string       `json:"error_class"`
	Error      string       `json:"error"`
	Request    httpMessage  `json:"request"`
	Response   *httpMessage `json:"response"`
}

// httpMessage is a request or an answer.
type httpMessage struct {
	Method    string            `json:"method"`
	URL       string            `json:"url"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	Truncated bool              `json:"truncated"`
}

// Took is how long the call has taken.
func (c *httpCall) Took() time.Duration { return time.Duration(c.DurationMS) * time.Millisecond }

// Names are the headers in order.
func (m httpMessage) Names() []string { return slices.Sorted(maps.Keys(m.Headers)) }

// Bytes is the body, for a document.
func (m httpMessage) Bytes() []byte { return []byte(m.Body) }

// callOf is the last call of a job, which is its output if it succeeded at once, and
// what it reported otherwise; nil if it made none.
func callOf(job *fairleadv1.Job) *httpCall {
	for _, document := range [][]byte{job.GetReported(), job.GetProgress(), job.GetOutput()} {
		var call httpCall
		if len(document) > 0 && json.Unmarshal(document, &call) == nil && call.Request.Method != "" && call.Request.URL != "" {
			return &call
		}
	}
	return nil
}
