package httpcall

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/outbound"
	"github.com/fairlead-io/fairlead/tracing"
)

const (
	maxAnswer        = 64 << 10 // bytes of an answer that are read, after inflation
	maxAnswerHeaders = 64 << 10 // bytes of an answer's headers; with more it is no answer
)

// Caller makes HTTP calls for jobs.
type Caller struct {
	client *http.Client
	wire   *wire // of those for very many calls
}

// NewCaller returns a caller that makes only connections permitted by the guard. It does not
// follow redirects and ignores the environment's proxy settings, because both would bypass
// the guard.
func NewCaller(guard *Guard) *Caller { return newCaller(guard, nil) }

func newCaller(guard *Guard, config *tls.Config) *Caller {
	return callerOver(newTransport(guard, config))
}

// newItemCaller makes a caller for very many calls.
func newItemCaller(guard *Guard) *Caller {
	w := newWire(newTransport(guard, nil))
	c := callerOver(w)
	c.wire = w
	return c
}

func callerOver(transport http.RoundTripper) *Caller {
	return &Caller{client: &http.Client{
		Transport:     tracing.Transport(outbound.Transport(transport)),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func newTransport(guard *Guard, config *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: guard.dial, TLSClientConfig: config, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxAnswerHeaders,
		MaxIdleConnsPerHost: 256, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}
}

// Client returns an HTTP client that makes only connections permitted by the guard. It is
// meant for code that needs more than a Reply. The client does not follow redirects.
func (g *Guard) Client() *http.Client { return NewCaller(g).client }

// Reply is a target's response.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte // at most maxAnswer bytes
	Cut    bool   // whether the body was longer and was truncated
}

// Do makes one call. Its errors are outcomes for the job. The job fails for good if the
// target responds with a 4xx status other than 408, 425 and 429, or if the guard denies the
// address. Every other failure is retried.
func (c *Caller) Do(request *http.Request) (Reply, error) {
	reply, err := c.exchange(request)
	if err == nil && reply.Status/100 == 2 {
		return reply, nil
	}
	if err == nil {
		err = &Error{ClassStatus, fmt.Errorf("%s responded with %s", shown(request.URL), statusText(reply.Status))}
	}
	if hopeless(reply.Status, err) {
		return reply, fairlead.Fatal(err)
	}
	return reply, err
}

// setUser sends what the URL says of who calls.
func setUser(request *http.Request) {
	if user := request.URL.User; user != nil && request.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
}

// exchange makes one call and takes any answer. Its errors are of the type *Error.
func (c *Caller) exchange(request *http.Request) (Reply, error) {
	// The client itself would only copy the headers for redirects that it does not
	// follow.
	setUser(request)
	response, err := c.client.Transport.RoundTrip(request)
	if err != nil {
		return Reply{}, noAnswer(request, err)
	}
	return readReply(request, response)
}

// readReply reads the body of an answer.
func readReply(request *http.Request, response *http.Response) (Reply, error) {
	defer response.Body.Close()
	reply := Reply{Status: response.StatusCode, Header: response.Header}
	if response.Body == http.NoBody {
		return reply, nil
	}
	var err error
	reply.Body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if len(reply.Body) > maxAnswer {
		reply.Body, reply.Cut = reply.Body[:maxAnswer], true
	} else if err != nil {
		return reply, noAnswer(request, fmt.Errorf("read the response: %w", err))
	}
	return reply, nil
}
