package connecttest

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
)

// Failure says which requests fail. Empty fields fit every request.
type Failure struct {
	Cluster string
	Method  string
	Path    string  // a part of the path
	Ratio   float64 // of the requests that fit; zero is all of them
	Seed    uint64
	// PerConnector chooses connectors by the ratio, not requests: all requests about
	// those fail, up to Times for each.
	PerConnector bool
	Times        int // how often, for each connector if PerConnector; zero is always
	Status       int // 500 by default
	Message      string
	// After carries the request out first, as when the answer is lost.
	After bool
}

// failing is a failure with what has come of it so far.
type failing struct {
	Failure
	random *rand.Rand
	counts map[string]int
}

// Fail injects a failure until Heal.
func (f *Fleet) Fail(failure Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, &failing{Failure: failure, random: rand.New(rand.NewPCG(failure.Seed, 0)), counts: map[string]int{}})
}

// Heal ends all failures.
func (f *Fleet) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = nil
}

// fails is the failure that meets a request, if one does. The fleet's lock is held.
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

// chance is a number between 0 and 1 that a name has with a seed.
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
