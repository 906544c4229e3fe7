package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/rest"
)

const (
	callbackPatience = 10 * time.Second // for one answer
	callbackBody     = 2 << 20          // bytes of one: an output and what is around it
)

// callbacks takes the answers of targets for jobs that wait. Who answers has no
// token of the API but that of one run of one job; it is used up by the change of
// the job's state itself, so that of many answers one counts.
type callbacks struct {
	store fairlead.Store
	log   *slog.Logger

	mu  sync.Mutex
	key []byte // asked for once: it never changes
}

// callbackAnswer is what a target says.
type callbackAnswer struct {
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Error  string          `json:"error"`
}

var errCallbackToken = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token is not one that was given out for this job; send it as Authorization: Bearer TOKEN"}

// ServeHTTP answers POST /api/v1/callbacks/{job}.
func (c *callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callbackPatience)
	defer cancel()
	status, err := c.take(ctx, w, r)
	if err != nil {
		if errors.Is(err, errCallbackToken) {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		if !refused(err) && r.Context().Err() == nil {
			c.log.Error("callback failed", "path", r.URL.Path, "error", err)
		}
		rest.Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = fmt.Fprintf(w, "{\"job\":%q,\"status\":%q}\n", r.PathValue("job"), status) // a caller that has gone needs no answer
}

// take checks who answers before anything of the answer is read.
func (c *callbacks) take(ctx context.Context, w http.ResponseWriter, r *http.Request) (status string, err error) {
	callback, err := c.admit(ctx, r)
	if err != nil {
		return "", err
	}
	answer, err := readCallback(http.MaxBytesReader(w, r.Body, callbackBody))
	if err != nil {
		return "", err
	}
	var failure error
	if answer.Status == "failure" {
		failure = errors.New(answer.Error)
	}
	return answer.Status, fairlead.NewClient(c.store).Resolve(ctx, callback.Job, callback.Fence, answer.Output, failure)
}

// admit finds out which run a request may answer for.
func (c *callbacks) admit(ctx context.Context, r *http.Request) (httpcall.Callback, error) {
	token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	id, err := strconv.ParseInt(r.PathValue("job"), 10, 64)
	if !given || err != nil {
		return httpcall.Callback{}, errCallbackToken
	}
	key, err := c.secret(ctx)
	if err != nil {
		return httpcall.Callback{}, err
	}
	now, err := c.store.Now(ctx)
	if err != nil {
		return httpcall.Callback{}, err
	}
	callback, err := httpcall.VerifyToken(key, token, now)
	switch {
	case errors.Is(err, httpcall.ErrForged), err == nil && callback.Job != id:
		return httpcall.Callback{}, errCallbackToken
	case err != nil:
		return httpcall.Callback{}, err
	}
	job, err := c.store.Get(ctx, id)
	if err == nil && job.Tenant != callback.Tenant {
		err = errCallbackToken
	}
	return callback, err
}

func (c *callbacks) secret(ctx context.Context) ([]byte, error) {
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

func readCallback(body io.Reader) (answer callbackAnswer, err error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return answer, refuseField("body", fmt.Sprintf("could not be read; at most %d bytes are taken", callbackBody))
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, refuseField("body", "is not JSON such as {\"status\":\"success\",\"output\":{}}")
	}
	switch {
	case answer.Status != "success" && answer.Status != "failure":
		return answer, refuseField("status", fmt.Sprintf("is %q; it must be success or failure", answer.Status))
	case answer.Status == "success" && answer.Error != "":
		return answer, refuseField("error", "does not go with success; leave it out")
	case answer.Status == "failure" && answer.Error == "":
		answer.Error = "the target said that it failed"
	}
	return answer, nil
}
