package httpcall

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/tracing"
)

// maxAnswer is how much of an answer is read and kept.
const maxAnswer = 64 << 10

// Caller makes HTTP calls for jobs.
type Caller struct {
	client *http.Client
}

// NewCaller makes a caller whose connections the guard checks. It follows no
// redirects and uses no proxy of the environment: both would lead past the
// guard.
func NewCaller(guard *Guard) *Caller {
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: guard.control}
	return &Caller{client: &http.Client{
		Transport: tracing.Transport(&http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 32, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Reply is what a target answered.
type Reply struct {
	Status int
	Body   []byte // at most maxAnswer bytes
}

// Do makes one call. Its errors are outcomes of the job: a 4xx answer other
// than 408, 425 and 429 fails it for good, as does an address that the guard
// denies; every other failure is tried again.
func (c *Caller) Do(request *http.Request) (Reply, error) {
	response, err := c.client.Do(request)
	if err != nil {
		return Reply{}, callFailed(request, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return Reply{}, fmt.Errorf("read the answer: %w", err)
	}
	reply := Reply{Status: response.StatusCode, Body: body}
	if reply.Status/100 == 2 {
		return reply, nil
	}
	failure := fmt.Errorf("%s answered %s", shown(request.URL), response.Status)
	switch code := reply.Status; {
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code/100 != 4:
		return reply, failure
	default:
		return reply, fairlead.Fatal(failure)
	}
}

// callFailed is the outcome of a call that got no answer.
func callFailed(request *http.Request, err error) error {
	err = withoutQuery(request, err)
	var denied *DeniedError
	if errors.As(err, &denied) {
		return fairlead.Fatal(err)
	}
	return err
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

// Identify tells a target which job calls, whatever headers are there already:
// a job cannot claim to be another.
func Identify(request *http.Request, job *fairlead.Job, idempotencyKey string) {
	request.Header.Set("Idempotency-Key", idempotencyKey)
	request.Header.Set("Fairlead-Job", strconv.FormatInt(job.ID, 10))
	request.Header.Set("Fairlead-Attempt", strconv.Itoa(job.Attempt))
	request.Header.Set("Fairlead-Fence", strconv.FormatInt(job.Fence, 10))
	if fairlead.TraceID(job.Trace) != "" { // where the run is a span, the target gets that of the call instead
		request.Header.Set("Traceparent", job.Trace)
	}
}
