// Package httpcall is the handler of the built-in kind "http": a job that
// calls a URL and succeeds if the answer's status is 2xx.
package httpcall

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Call is the args of a job of kind "http".
type Call struct {
	Method  string            `json:"method,omitempty"` // default POST
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"` // a JSON string is sent as its text, anything else as it is
}

// Answer is the output of such a job.
type Answer struct {
	Status   int    `json:"status"`
	Duration string `json:"duration"`
	Body     string `json:"body,omitempty"` // at most maxAnswer bytes
}

// Handler makes the calls.
type Handler struct {
	caller *Caller
}

// New makes a handler whose connections the guard checks.
func New(guard *Guard) *Handler { return &Handler{caller: NewCaller(guard)} }

// Work makes one call. A 4xx answer other than 408, 425 and 429 fails the job
// for good; every other failure is tried again.
func (h *Handler) Work(ctx context.Context, job *fairlead.Job) error {
	request, err := newRequest(ctx, job)
	if err != nil {
		return fairlead.Fatal(err)
	}
	begin := time.Now()
	reply, err := h.caller.Do(request)
	if err != nil {
		return err
	}
	return fairlead.SetOutput(ctx, Answer{Status: reply.Status, Duration: time.Since(begin).String(), Body: strings.ToValidUTF8(string(reply.Body), "\uFFFD")})
}

func newRequest(ctx context.Context, job *fairlead.Job) (*http.Request, error) {
	var call Call
	if err := json.Unmarshal(job.Args, &call); err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	target, err := url.Parse(call.URL)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, fmt.Errorf("args.url %q: it must be an absolute http or https URL", call.URL)
	}
	if call.Method == "" {
		call.Method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, call.URL, strings.NewReader(bodyText(call.Body)))
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	if len(call.Body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range call.Headers {
		request.Header.Set(name, value)
	}
	Identify(request, job, "fairlead-"+strconv.FormatInt(job.ID, 10)) // last, so that ours count
	return request, nil
}

func bodyText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
