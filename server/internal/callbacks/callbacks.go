// Package callbacks receives the results of waiting jobs from the targets that were called.
package callbacks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server/internal/audit"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/pipeline"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

const (
	callbackPatience = 10 * time.Second // timeout of one request
	MaxBody          = 2 << 20          // maximum size of a request in bytes: an output and its surroundings
)

// Callbacks receives the answers of targets for waiting jobs. A target has no API token.
// Its token is valid for one run of one job; changing the state of the job invalidates the
// token, so that only one of several answers counts.
type Callbacks struct {
	store    driver.Store
	log      *slog.Logger
	failures *authn.Failures
	sums     *audit.Sums                 // counts refused tokens
	ended    func(jobs ...*fairlead.Job) // reports ended jobs to the node of this process

	mu  sync.Mutex
	key []byte // read once; it never changes
}

// New returns the handler of callbacks. It reports ended jobs with ended, and counts refused
// tokens in refusals.
func New(store driver.Store, ended func(jobs ...*fairlead.Job), refusals *audit.Sums, log *slog.Logger) *Callbacks {
	return &Callbacks{store: store, log: log, failures: authn.NewFailures(), sums: refusals, ended: ended}
}

var errCallbackToken = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token was not issued for this job; send it as Authorization: Bearer TOKEN"}

// ServeHTTP handles POST and PUT /api/v1/callbacks/{job}. Repeating an answer changes
// nothing, so both methods mean the same.
func (c *Callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callbackPatience)
	defer cancel()
	reply, err := c.take(ctx, w, r)
	err = pipeline.Unavailable(r.Context(), err)
	if err != nil {
		if errors.Is(err, errCallbackToken) {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if !audit.Refused(err) && r.Context().Err() == nil {
			c.log.Error("callback failed", "path", r.URL.Path, "error", err)
		}
		rest.Refuse(w, err)
		return
	}
	reply.send(w)
}

// take authenticates the caller before it reads the answer.
func (c *Callbacks) take(ctx context.Context, w http.ResponseWriter, r *http.Request) (callbackReply, error) {
	run, err := c.admit(ctx, r)
	if err != nil {
		return callbackReply{}, err
	}
	answer, err := readCallback(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return callbackReply{}, err
	}
	reply := callbackReply{Job: r.PathValue("job"), Status: answer.Status}
	client := fairlead.NewClient(c.store)
	switch answer.Status {
	case callbackSuccess:
		err = client.Resolve(ctx, run.Job, run.Fence, answer.Output, nil)
	case callbackFailure:
		err = client.Resolve(ctx, run.Job, run.Fence, answer.Output, errors.New(answer.Error))
	default:
		reply.Deadline, err = run.extend(ctx, client, answer)
		return reply, err
	}
	if err == nil {
		c.ended(run.job)
	}
	return reply, err
}

// callbackRun is the run that a request may answer.
type callbackRun struct {
	httpcall.Callback
	job *fairlead.Job
	now time.Time // the database's clock
}

// extend stores the progress that a target reports, and extends the deadline on request. It
// never moves the deadline beyond the end of the token's validity, because the target could
// not answer after that.
func (r callbackRun) extend(ctx context.Context, client *fairlead.Client, answer callbackAnswer) (time.Time, error) {
	span := answer.span()
	if most := httpcall.CallbackTimeout(r.job); span > most {
		return time.Time{}, rest.InvalidField("extend_seconds", "is more than "+strconv.FormatFloat(most.Seconds(), 'f', -1, 64)+
			", the callback timeout of the job; request a shorter extension")
	}
	return client.Extend(ctx, fairlead.Extension{ID: r.Job, Fence: r.Fence, For: min(span, r.Expires.Sub(r.now)), Told: answer.Output})
}

// admit determines the run that a request may answer. It records guessed tokens without
// cost to the database, and never delays a caller with a valid token.
func (c *Callbacks) admit(ctx context.Context, r *http.Request) (callbackRun, error) {
	run, err := c.identify(ctx, r)
	if !errors.Is(err, errCallbackToken) {
		return run, err
	}
	from := authn.HostOf(r.RemoteAddr)
	if own, _ := c.failures.Spend(from); !own {
		err = caller.ErrTooManyUnknown
	}
	c.sums.Refused(from, "Callback", "unknown token")
	return run, err
}

func (c *Callbacks) identify(ctx context.Context, r *http.Request) (run callbackRun, err error) {
	authorization, several := authn.AuthorizationOf(r.Header)
	token, given := strings.CutPrefix(authorization, "Bearer ")
	id, err := strconv.ParseInt(r.PathValue("job"), 10, 64)
	if several != nil || !given || err != nil {
		return run, errCallbackToken
	}
	key, err := c.secret(ctx)
	if err != nil {
		return run, err
	}
	if run.Callback, err = httpcall.VerifyToken(key, token, time.Time{}); err != nil || run.Job != id {
		return run, errCallbackToken
	}
	if run.now, err = c.store.Now(ctx); err != nil {
		return run, err
	}
	if _, err := httpcall.VerifyToken(key, token, run.now); err != nil { // the token has expired
		return run, err
	}
	run.job, err = c.store.Get(ctx, id)
	if err == nil && run.job.Tenant != run.Tenant {
		err = errCallbackToken
	}
	return run, err
}

func (c *Callbacks) secret(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key != nil {
		return c.key, nil
	}
	key, err := httpcall.CallbackKey(ctx, c.store)
	if err == nil {
		c.key = key
	}
	return key, err
}
