package connecttest

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
)

// A Failure selects the requests that fail. An empty field matches every request.
type Failure struct {
	Cluster string
	Method  string
	Path    string  // substring of the path
	Ratio   float64 // share of the matching requests; zero = all
	Seed    uint64
	// PerConnector applies the ratio to connectors instead of requests: all requests about the
	// chosen connectors fail, up to Times for each.
	PerConnector bool
	Times        int // number of failures, for each connector if PerConnector is set; zero = unlimited
	Status       int // default 500
	Message      string
	// After carries out the request before it fails, as if the response was lost.
	After bool
}

// failing is an injected failure with its current counts.
type failing struct {
	Failure
	random *rand.Rand
	counts map[string]int
}

// Fail makes the requests that failure selects fail until Heal is called.
func (f *Fleet) Fail(failure Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, &failing{Failure: failure, random: rand.New(rand.NewPCG(failure.Seed, 0)), counts: map[string]int{}})
}

// Heal removes all injected failures.
func (f *Fleet) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = nil
}

// fails returns the failure that applies to a request, or nil. The caller must hold the
// fleet's lock.
func (f *Fleet) fails(r Request) *failing {
	for _, failure := range f.failures {
		if failure.meets(r) {
			return failure
		}
	}
	return nil
}

func (f *failing) meets(r Request) bool {
	if f.Cluster != "" && f.Cluster != r.Cluster || f.Method != "" && f.Method != r.Method || !strings.Contains(r.Path, f.Path) {
		return false
	}
	key := ""
	switch {
	case f.PerConnector:
		key = r.Connector
		if key == "" || f.Ratio > 0 && chance(key, f.Seed) >= f.Ratio {
			return false
		}
	case f.Ratio > 0 && f.random.Float64() >= f.Ratio:
		return false
	}
	if f.Times > 0 && f.counts[key] >= f.Times {
		return false
	}
	f.counts[key]++
	return true
}

// chance returns a number between 0 and 1 that depends only on a name and a seed.
func chance(name string, seed uint64) float64 {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return rand.New(rand.NewPCG(hash.Sum64(), seed)).Float64()
}

func (f *failing) answer() (int, string) {
	status, message := f.Status, f.Message
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if message == "" {
		message = "Request timed out"
	}
	return status, message
}
