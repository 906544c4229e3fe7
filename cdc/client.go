package cdc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

const (
	maxAnswer        = 8 << 20 // maximum number of bytes read of a response; configs and offsets are far smaller
	maxAnswerHeaders = 64 << 10

	readTries = 3 // number of attempts of a read
)

// client sends requests to one cluster.
type client struct {
	Cluster
	http    *http.Client
	pace    pace
	timeout time.Duration // timeout of one request
}

func newClient(cluster Cluster, config Config) *client {
	cluster.URL = strings.TrimRight(cluster.URL, "/")
	return &client{Cluster: cluster, timeout: config.RequestTimeout, pace: pace{config.Poll, config.MaxPoll}, http: &http.Client{
		Transport:     config.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// call makes a request and reads its response. While its workers rebalance, a cluster
// answers 409 without doing anything, so call repeats the request until the context ends.
// It repeats a read a few times after other failures. It does not repeat a write, because
// the write may have taken effect: the operation is repeated from its start instead.
func (c *client) call(ctx context.Context, method, path string, body, into any) error {
	pause := c.pace.begin()
	for try := 1; ; try++ {
		err := c.once(ctx, method, path, body, into)
		passing := method == http.MethodGet && try < readTries && mayPass(err)
		if err == nil || !answered(err, http.StatusConflict) && (!passing || ctx.Err() != nil) {
			return err
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("%w: %w", late, err)
		}
	}
}

// mayPass reports whether a failed read may succeed on the next attempt.
func mayPass(err error) bool {
	var answer *answerError
	return !errors.As(err, &answer) || answer.status >= http.StatusInternalServerError
}

// once makes a single request.
func (c *client) once(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.Username != "" {
		request.SetBasicAuth(c.Username, c.Password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("cluster %q did not respond to %s %s: %w", c.Name, method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("cluster %q closed the connection while responding to %s %s: %w", c.Name, method, path, outbound.Reason(err))
	case len(raw) > maxAnswer:
		return fmt.Errorf("cluster %q responded with more than %d bytes to %s %s", c.Name, maxAnswer, method, path)
	case response.StatusCode/100 != 2:
		return &answerError{cluster: c.Name, request: method + " " + path, status: response.StatusCode, message: messageOf(raw, response)}
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("cluster %q sent an invalid Kafka Connect response to %s %s; check the cluster's URL: %w", c.Name, method, path, err)
	}
	return nil
}

// messageOf returns the error message of a response.
func messageOf(raw []byte, response *http.Response) string {
	var problem struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &problem) == nil && problem.Message != "" {
		return brief(problem.Message)
	}
	return http.StatusText(response.StatusCode)
}
