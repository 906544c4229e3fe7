package connecttest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Options configures a Fleet. The zero value specifies two clusters, "a" and "b", that apply
// all changes immediately.
type Options struct {
	Clusters  []string
	Settle    time.Duration // delay until a change of state becomes visible
	Rebalance time.Duration // period of 409 responses after a connector is added, changed or removed
	Latency   time.Duration // delay of each response
	Username  string        // required in requests unless empty
	Password  string
	// Old simulates a version before 3.5, which has neither stopping nor offsets.
	// NoInitialState simulates a version before 3.7, where new connectors always run.
	Old            bool
	NoInitialState bool
}

// A Fleet is a set of simulated clusters.
type Fleet struct {
	options  Options
	clusters map[string]*cluster

	mu       sync.Mutex
	failures []*failing
	watch    func(Request)
	requests []Request
}

// A Request is a request that a cluster received.
type Request struct {
	Cluster   string
	Method    string
	Path      string // path below the URL of the cluster
	Connector string // connector that the request concerns, if any
	Number    int    // number of the request to the fleet, starting at 1
	Status    int    // status of the response; zero before the response
}

// A Connector is a connector's state on a cluster.
type Connector struct {
	Config  map[string]string
	State   string // default RUNNING
	Offsets []Offset
}

// An Offset is a connector's read position in one partition.
type Offset struct {
	Partition json.RawMessage `json:"partition"`
	Offset    json.RawMessage `json:"offset"`
}

// New starts a fleet and closes it when the test ends.
func New(t testing.TB, options Options) *Fleet {
	t.Helper()
	f := Start(options)
	t.Cleanup(f.Close)
	return f
}

// Start starts a fleet. The caller must call Close.
func Start(options Options) *Fleet {
	if options.Clusters == nil {
		options.Clusters = []string{"a", "b"}
	}
	f := &Fleet{options: options, clusters: map[string]*cluster{}}
	for _, name := range options.Clusters {
		c := &cluster{name: name, fleet: f, connectors: map[string]*connector{}, offsets: map[string]map[string]Offset{}}
		c.server = httptest.NewServer(http.HandlerFunc(c.serve))
		f.clusters[name] = c
	}
	return f
}

// Close stops all clusters.
func (f *Fleet) Close() {
	for _, c := range f.clusters {
		c.server.Close()
	}
}

// URL returns the cluster's URL.
func (f *Fleet) URL(cluster string) string { return f.clusters[cluster].server.URL }

// Add adds a connector to a cluster, without any visible state transitions.
func (f *Fleet) Add(cluster, name string, connector Connector) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(name, connector)
}

// SetOffsets replaces a connector's offsets, as if it had read more.
func (f *Fleet) SetOffsets(cluster, name string, offsets []Offset) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[name] = map[string]Offset{}
	c.alter(name, offsets)
}

// SetConfig replaces a connector's config, as if an operator had done so.
func (f *Fleet) SetConfig(cluster, name string, config map[string]string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].config = maps.Clone(config)
}

// Break makes a connector's tasks fail with the given trace until the connector has been
// restarted restarts times.
func (f *Fleet) Break(cluster, name, trace string, restarts int) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].broken, c.connectors[name].trace = restarts, trace
}

// BreakNew makes every connector that is later added to the cluster fail permanently with
// the given trace. An empty trace ends this.
func (f *Fleet) BreakNew(cluster, trace string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breakNew = trace
}

// Remove removes a connector, as if an operator had done so.
func (f *Fleet) Remove(cluster, name string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.connectors, name)
}

// Snapshot returns the connectors of each cluster, by cluster and connector name, in their
// target states. The offsets' partitions are sorted and formatted consistently.
func (f *Fleet) Snapshot() map[string]map[string]Connector {
	all := map[string]map[string]Connector{}
	for name, c := range f.clusters {
		c.mu.Lock()
		all[name] = map[string]Connector{}
		for connector := range c.connectors {
			all[name][connector] = c.get(connector)
		}
		c.mu.Unlock()
	}
	return all
}

// Requests returns all answered requests.
func (f *Fleet) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var answered []Request
	for _, r := range f.requests {
		if r.Status != 0 {
			answered = append(answered, r)
		}
	}
	return answered
}

// Watch makes the fleet call watch for every request, after carrying out the request and
// before responding to it. Tests can use watch to interrupt the caller.
func (f *Fleet) Watch(watch func(Request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = watch
}
