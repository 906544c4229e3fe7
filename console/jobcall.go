package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// httpCall is the stored record of an HTTP call. Secrets were removed before it was stored.
type httpCall struct {
	Status     int          `json:"status"`
	DurationMS int64        `json:"duration_ms"`
	Class      string       `json:"error_class"`
	Error      string       `json:"error"`
	Attempt    int          `json:"attempt"`
	At         time.Time    `json:"at"`
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

// FailureClass names a class of failed calls. A class of a newer node keeps its name.
func (v *visit) FailureClass(class string) string {
	switch class {
	case "connect":
		return v.T("connection failed")
	case "timeout":
		return v.T("timed out")
	case "canceled":
		return v.T("call aborted")
	case "status":
		return v.T("unsuccessful status")
	}
	return class
}

// Names returns the sorted names of the headers.
func (m httpMessage) Names() []string { return slices.Sorted(maps.Keys(m.Headers)) }

// Bytes returns the body, for display as a document.
func (m httpMessage) Bytes() []byte { return []byte(m.Body) }

// callOf returns the newest stored call of a job, or nil if the job made none. A failed
// call is stored as progress, which stays when a later attempt stores its call as output.
func callOf(job *fairleadv1.Job) (newest *httpCall) {
	for _, document := range [][]byte{job.GetReported(), job.GetProgress(), job.GetOutput()} {
		var call httpCall
		if len(document) == 0 || json.Unmarshal(document, &call) != nil || call.Request.Method == "" || call.Request.URL == "" {
			continue
		}
		if newest == nil || cmp.Or(cmp.Compare(call.Attempt, newest.Attempt), call.At.Compare(newest.At)) >= 0 {
			newest = &call
		}
	}
	return newest
}

// awaitsAnswer reports whether the target accepted the newest call of a job and answers with
// a callback. Such a call is stored as progress; the output is that of the callback.
func awaitsAnswer(job *fairleadv1.Job, call *httpCall) bool {
	stored := callOf(&fairleadv1.Job{Output: job.GetOutput()})
	return call.Class == "" && call.Error == "" && (stored == nil || stored.Attempt != call.Attempt)
}
