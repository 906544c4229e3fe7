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

// Options say what the clusters are like. The zero value is two clusters, "a" and
// "b", that do everything at once.
type Options struct {
	Clusters  []string
	Settle    time.Duration // how long a change of state takes to show
	Rebalance time.Duration // how long 409 is answered after a connector comes, changes or goes
	Latency   time.Duration // of each answer
	Username  string        // asked for if it is not empty
	Password  string
	// Old answers as a version before 3.5 does, which knows neither stopping nor
	// offsets; NoInitialState as one before 3.7, where connectors are made running.
	Old            bool
	NoInitialState bool
}

// Fleet is some clusters.
type Fleet struct {
	options  Options
	clusters map[string]*cluster

	mu       sync.Mutex
	failures []*failing
	watch    func(Request)
	requests []Request
}

// Request is one that a cluster got.
type Request struct {
	Cluster   string
	Method    string
	Path      string // below the address of the cluster
	Connector string // that it is about, if any
	Number    int    // of all requests to the fleet, from 1
	Status    int    // that was answered; zero while it is not
}

// Connector is what a cluster has of a connector.
type Connector struct {
	Config  map[string]string
	State   string // RUNNING by default
	Offsets []Offset
}

// Offset is how far a connector has read in one partition.
type Offset struct {
	Partition json.RawMessage `json:"partition"`
	Offset    json.RawMessage `json:"offset"`
}

// New starts clusters that end with the test.
func New(t testing.TB, options Options) *Fleet {
	t.Helper()
	f := Start(options)
	t.Cleanup(f.Close)
	return f
}

// Start starts clusters that end when they are closed.
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

// Close ends the clusters.
func (f *Fleet) Close() {
	for _, c := range f.clusters {
		c.server.Close()
	}
}

// URL is the address of a cluster.
func (f *Fleet) URL(cluster string) string { return f.clusters[cluster].server.URL }

// Add puts a connector on a cluster, as if it had been there for long.
func (f *Fleet) Add(cluster, name string, connector Connector) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(name, connector)
}

// SetOffsets changes the offsets of a connector, as reading on would.
func (f *Fleet) SetOffsets(cluster, name string, offsets []Offset) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[name] = map[string]Offset{}
	c.alter(name, offsets)
}

// SetConfig changes the config of a connector, as an operator would.
func (f *Fleet) SetConfig(cluster, name string, config map[string]string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].config = maps.Clone(config)
}

// Break makes the tasks of a connector fail; restarting it heals it that many
// restarts later.
func (f *Fleet) Break(cluster, name, trace string, restarts int) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connectors[name].broken, c.connectors[name].trace = restarts, trace
}

// BreakNew makes every connector that comes to a cluster fail for good, until it
// is called with an empty trace.
func (f *Fleet) BreakNew(cluster, trace string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breakNew = trace
}

// Remove takes a connector away, as an operator would.
func (f *Fleet) Remove(cluster, name string) {
	c := f.clusters[cluster]
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.connectors, name)
}

// Snapshot is everything that the clusters have: the connectors of each by their
// names, in the states that they are to be in, with the partitions of their offsets
// in order and written the same way each time.
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

// Requests lists the requests that were answered.
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

// Watch calls a function with each request after it was carried out and before it
// is answered. It may be used to break off the caller.
func (f *Fleet) Watch(watch func(Request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = watch
}
