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

// Options configures the clusters. The zero value is two clusters, "a" and "b", that apply
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

// A Fleet is a set of clusters.
type Fleet struct {
	options  Options
	clusters map[string]*cluster

	mu       sync.Mutex
	failures []*failing
	watch    func(Request)
	requests []Request
}

// A Request is a request to a cluster.
type Request struct {
	Cluster   string
	Method    string
	Path      string // path below the URL of the cluster
	Connector string // connector that the request concerns, if any
	Number    int    // number of the request to the fleet, starting at 1
	Status    int    // status of the response; zero before the response
}

// A Connector is the state of a connector on a cluster.
type Connector struct {
	Config  map[string]string
	State   string // default RUNNING
	Offsets []Offset
}

// An Offset is the read position of a connector in one partition.
type Offset struct {
	Partition json.RawMessage `json:"partition"`
	Offset    json.RawMessage `json:"offset"`
}

// New starts clusters and stops them at the end of the test.
func New(t testing.TB, options Options) *Fleet {
	t.Helper()
	f := Start(options)
	t.Cleanup(f.Close)
	return f
}

// Start starts clusters. The caller must call Close.
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

// Close stops the clusters.
func (f *Fleet) Close() {
	for _, c := range f.clusters {
		c.server.Close()
	}
}

// URL returns the URL of a cluster.
func (f *Fleet) URL(cluster string) string { return f.clusters[cluster].server.URL }

// Add adds a connector to a cluster, without visible transitions.
func (f *Fleet) Add(cluster, name string, connector Connector) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(name, connector)
}

// SetOffsets changes the offsets of a connector, as if it had read more.
func (f *Fleet) SetOffsets(cluster, name string, offsets []Offset) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[name] = map[string]Offset{}
	c.alter(name, offsets)
}

// SetConfig changes the config of a connector, as if an operator had done so.
func (f *Fleet) SetConfig(cluster, name string, config map[string]string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].config = maps.Clone(config)
}

// Break makes the tasks of a connector fail until it has been restarted that many times.
func (f *Fleet) Break(cluster, name, trace string, restarts int) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].broken, c.connectors[name].trace = restarts, trace
}

// BreakNew makes every connector added to a cluster fail permanently, until it is called
// with an empty trace.
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

// Snapshot returns the state of all clusters: the connectors of each by name, in their
// target states. The partitions of the offsets are sorted and formatted consistently.
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

// Requests returns the requests that were answered.
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

// Watch calls a function with each request after it was carried out and before it is
// answered. The function may be used to interrupt the caller.
func (f *Fleet) Watch(watch func(Request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = watch
}
