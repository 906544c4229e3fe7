// Package httpcall is the handler of the built-in kind "http": a job that
// calls a URL and succeeds if the answer's status is 2xx.
package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/tracing"
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

// maxAnswer is how much of an answer is read and kept.
const maxAnswer = 64 << 10

// Handler makes the calls.
type Handler struct {
	client *http.Client
}

// New makes a handler whose connections the guard checks. It follows no
// redirects and uses no proxy of the environment: both would lead past the
// guard.
func New(guard *Guard) *Handler {
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: guard.control}
	return &Handler{client: &http.Client{
		Transport: tracing.Transport(&http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 32, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Work makes one call. A 4xx answer other than 408, 425 and 429 fails the job
// for good; every other failure is tried again.
func (h *Handler) Work(ctx context.Context, job *fairlead.Job) error {
	request, err := newRequest(ctx, job)
	if err != nil {
		return fairlead.Fatal(err)
	}
	begin := time.Now()
	response, err := h.client.Do(request)
	if err != nil {
		err = withoutQuery(request, err)
		var denied *DeniedError
		if errors.As(err, &denied) {
			return fairlead.Fatal(err)
		}
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode/100 == 2 {
		return fairlead.SetOutput(ctx, Answer{Status: response.StatusCode, Duration: time.Since(begin).String(), Body: strings.ToValidUTF8(string(body), "\uFFFD")})
	}
	failure := fmt.Errorf("%s answered %s", shown(request.URL), response.Status)
	switch code := response.StatusCode; {
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code/100 != 4:
		return failure
	default:
		return fairlead.Fatal(failure)
	}
}

// shown is as much of a URL as errors may say, which get into logs and traces:
// passwords and tokens are in the user part and in the query.
func shown(target *url.URL) string {
	return (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path}).String()
}

// withoutQuery is an error of the client, which names the whole URL, with as much
// of it as may be said.
func withoutQuery(request *http.Request, err error) error {
	var failure *url.Error
	if !errors.As(err, &failure) {
		return err
	}
	return fmt.Errorf("%s %s: %w", request.Method, shown(request.URL), failure.Err)
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
	// Ours come last: a job cannot claim to be another.
	request.Header.Set("Idempotency-Key", "fairlead-"+strconv.FormatInt(job.ID, 10))
	request.Header.Set("Fairlead-Job", strconv.FormatInt(job.ID, 10))
	request.Header.Set("Fairlead-Attempt", strconv.Itoa(job.Attempt))
	request.Header.Set("Fairlead-Fence", strconv.FormatInt(job.Fence, 10))
	if fairlead.TraceID(job.Trace) != "" { // where the run is a span, the target gets that of the call instead
		request.Header.Set("Traceparent", job.Trace)
	}
	return request, nil
}

func bodyText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
