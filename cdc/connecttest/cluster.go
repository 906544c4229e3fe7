package connecttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"
)

// cluster is one Kafka Connect cluster.
type cluster struct {
	name   string
	fleet  *Fleet
	server *httptest.Server

	mu         sync.Mutex
	connectors map[string]*connector
	offsets    map[string]map[string]Offset // by connector and partition; they outlive connectors
	rebalanced time.Time                    // end of the current rebalance
	breakNew   string
}

// answer is the response to a request.
type answer struct {
	status int
	body   any
}

func problem(status int, format string, args ...any) answer {
	return answer{status, map[string]any{"error_code": status, "message": fmt.Sprintf(format, args...)}}
}

// serve answers a request. The request may fail before or after it is carried out, and the
// watcher sees it in between.
func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has disconnected
	}
	request := Request{Cluster: c.name, Method: r.Method, Path: r.URL.Path, Connector: connectorOf(r, body)}
	f := c.fleet
	f.mu.Lock()
	request.Number = len(f.requests) + 1
	f.requests = append(f.requests, request)
	failure, watch := f.fails(request), f.watch
	f.mu.Unlock()

	if f.options.Latency > 0 {
		select {
		case <-time.After(f.options.Latency):
		case <-r.Context().Done():
			return
		}
	}
	var got answer
	if failure == nil || failure.After {
		got = c.handle(r, body)
	}
	if failure != nil {
		status, message := failure.answer()
		got = problem(status, "%s", message)
	}
	request.Status = got.status
	f.mu.Lock()
	f.requests[request.Number-1] = request
	f.mu.Unlock()
	if watch != nil {
		watch(request)
	}
	if got.body == nil {
		w.WriteHeader(got.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(got.status)
	_ = json.NewEncoder(w).Encode(got.body) // the caller may have disconnected
}

// connectorOf returns the name of the connector that a request concerns.
func connectorOf(r *http.Request, body []byte) string {
	if name, _ := split(r); name != "" {
		return name
	}
	var created struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(body, &created) // not every request has a body
	return created.Name
}

// split splits a path into the connector and the rest.
func split(r *http.Request) (name, rest string) {
	path, below := strings.CutPrefix(r.URL.EscapedPath(), "/connectors/")
	if !below {
		return "", ""
	}
	name, rest, _ = strings.Cut(path, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return name, rest
}

// handle carries out a request.
func (c *cluster) handle(r *http.Request, body []byte) answer {
	options := c.fleet.options
	if user, password, _ := r.BasicAuth(); options.Username != "" && (user != options.Username || password != options.Password) {
		return problem(http.StatusUnauthorized, "User cannot access the resource.")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name, rest := split(r)
	what := r.Method + " " + rest
	if name == "" {
		return c.handleAll(r, body)
	}
	if needsLeader(what) && time.Now().Before(c.rebalanced) {
		return problem(http.StatusConflict, "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config change)")
	}
	if options.Old && (rest == "stop" || rest == "offsets") {
		return problem(http.StatusNotFound, "HTTP 404 Not Found")
	}
	if what == "PUT config" {
		return c.putConfig(name, body)
	}
	found := c.connectors[name]
	if found == nil {
		return c.noSuch(what, name)
	}
	switch what {
	case "GET ":
		return answer{http.StatusOK, c.info(name, found)}
	case "DELETE ":
		delete(c.connectors, name)
		c.rebalance()
		return answer{http.StatusNoContent, nil}
	case "GET config":
		return answer{http.StatusOK, found.config}
	case "GET status":
		return c.status(name, found)
	case "PUT pause":
		found.ask(Paused, options.Settle)
		return answer{http.StatusAccepted, nil}
	case "PUT resume":
		found.ask(Running, options.Settle)
		return answer{http.StatusAccepted, nil}
	case "PUT stop":
		found.ask(Stopped, options.Settle)
		return answer{http.StatusNoContent, nil}
	case "POST restart":
		return c.restart(name, found, r)
	case "GET offsets":
		return answer{http.StatusOK, map[string]any{"offsets": c.listOffsets(name)}}
	case "PATCH offsets", "DELETE offsets":
		return c.modifyOffsets(name, found, r.Method, body)
	}
	return problem(http.StatusMethodNotAllowed, "HTTP 405 Method Not Allowed")
}

// needsLeader reports whether a request must be carried out by the leader of the workers,
// which does not do so during a rebalance.
func needsLeader(what string) bool {
	switch what {
	case "GET ", "DELETE ", "GET config", "PUT config", "PUT stop", "POST restart", "PATCH offsets", "DELETE offsets":
		return true
	}
	return false
}

// noSuch returns the response for an unknown connector, which depends on the request.
func (c *cluster) noSuch(what, name string) answer {
	switch what {
	case "GET status":
		return problem(http.StatusNotFound, "No status found for connector %s", name)
	case "PUT pause", "PUT resume", "PUT stop", "POST restart":
		return problem(http.StatusNotFound, "Unknown connector %s", name)
	}
	return problem(http.StatusNotFound, "Connector %s not found", name)
}

// rebalance starts a rebalance.
func (c *cluster) rebalance() { c.rebalanced = time.Now().Add(c.fleet.options.Rebalance) }
