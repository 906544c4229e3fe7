package cdc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc"
	"github.com/fairlead-io/fairlead/cdc/connecttest"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// crashWorlds are what the clusters are like when operations are broken off.
var crashWorlds = map[string]connecttest.Options{
	"at once":     {},
	"slow":        {Settle: 2 * time.Millisecond, Rebalance: time.Millisecond},
	"version 3.6": {NoInitialState: true, Settle: time.Millisecond},
}

// everyStep runs a test once for each request that an operation makes, until
// the operation ends before it comes to that request. The test leaves the fleet as
// it was, but for offsets of connectors that are gone.
func everyStep(t *testing.T, test func(r *run, initial, final fleetState, k int) (broken bool)) {
	t.Helper()
	for name, options := range crashWorlds {
		for _, e := range examples {
			if options.NoInitialState && !e.makesOne() {
				continue // it is the same as elsewhere
			}
			t.Run(name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				if name == "slow" {
					tier.Long(t, "every step again, in clusters that are slow")
				}
				r, initial, final := e.begin(t, options, nil)
				k := 1
				for test(r, initial, final, k) {
					r, _, _ = e.beginIn(r.world)
					if k++; k > 200 {
						t.Fatal("it never ends")
					}
				}
				if k < 3 {
					t.Errorf("it was broken off only %d times", k-1)
				}
			})
		}
	}
}

func TestBrokenOffAndRepeated(t *testing.T) {
	everyStep(t, func(r *run, initial, final fleetState, k int) bool {
		broken := r.breakOff(r.forward, k)
		r.must(r.forward)
		r.expect("after it was broken off and repeated", final)
		r.must(r.back)
		r.expect("after that was undone", initial)
		return broken
	})
}

func TestBrokenOffAndUndone(t *testing.T) {
	everyStep(t, func(r *run, initial, _ fleetState, k int) bool {
		broken := r.breakOff(r.forward, k)
		r.must(r.back)
		r.expect("after it was broken off and undone", initial)
		return broken
	})
}

func TestUndoBrokenOffAndRepeated(t *testing.T) {
	everyStep(t, func(r *run, initial, _ fleetState, k int) bool {
		r.must(r.forward)
		broken := r.breakOff(r.back, k)
		r.must(r.back)
		r.expect("after undoing was broken off and repeated", initial)
		return broken
	})
}

// A cluster that fails a request, before or after it has carried it out, makes
// the operation fail; it is retried by a user, or rolled back.
func TestFailedAndRetried(t *testing.T) {
	for _, carriedOut := range []bool{false, true} {
		everyStep(t, func(r *run, initial, final fleetState, k int) bool {
			failure := connecttest.Failure{After: carriedOut}
			var seen atomic.Int64
			r.fleet.Watch(func(connecttest.Request) {
				if seen.Add(1) == int64(k-1) {
					r.fleet.Fail(failure)
				}
			})
			if k == 1 {
				r.fleet.Fail(failure)
			}
			err := r.forward(r.context())
			r.fleet.Watch(nil)
			r.fleet.Heal()
			r.must(r.forward)
			r.expect("after it failed and was retried", final)
			r.must(r.back)
			r.expect("after that was undone", initial)
			return err != nil
		})
	}
}

// A connector keeps its newer position if the move was complete but not recorded: its copy
// is not set back.
func TestACopyThatRunsIsNotSetBack(t *testing.T) {
	r, _, _ := examples[7].begin(t, connecttest.Options{}, nil)
	if r.op.BatchType != cdc.BatchSwitchAZ {
		t.Fatal("the example is another one")
	}
	r.fleet.Fail(connecttest.Failure{Method: "DELETE"})
	if err := r.forward(r.context()); err == nil {
		t.Fatal("the move succeeds although nothing can be deleted")
	}
	r.fleet.Heal()
	read := offsets(uuid+":1-99", 9007199254740999)
	r.fleet.SetOffsets("b-k8s", "orders", read)
	r.must(r.forward)
	if got := r.fleet.Snapshot()["b-k8s"]["orders"].Offsets; string(got[1].Offset) != string(read[1].Offset) {
		t.Errorf("it reads on from %s, wanted %s", got[1].Offset, read[1].Offset)
	}
}

// Two connectors of one name never run at the same time.
func TestThereAreNeverTwoThatRun(t *testing.T) {
	r, _, _ := examples[7].begin(t, connecttest.Options{}, nil)
	r.fleet.Watch(func(request connecttest.Request) {
		running := 0
		for _, cluster := range r.fleet.Snapshot() {
			if cluster["orders"].State == connecttest.Running {
				running++
			}
		}
		if running > 1 {
			t.Errorf("two run after %s %s", request.Method, request.Path)
		}
	})
	r.must(r.forward)
	r.must(r.back)
	r.fleet.Watch(nil)
}

// The time may be over in the moment in which the cluster answers that it rebalances.
func TestADeadlineDuringAnAnswerIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, connecttest.Options{Rebalance: time.Hour}, func(config *cdc.Config) {
		config.Transport = roundTrip(func(request *http.Request) (*http.Response, error) {
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(response.Body)
			response.Body = io.NopCloser(bytes.NewReader(body))
			if response.StatusCode == http.StatusConflict {
				cancel()
			}
			return response, err
		})
	})
	w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
	err := w.ops[cdc.BatchChangeConfig].Process(ctx, task(cdc.BatchChangeConfig), nil, raw(`{"change_config":{"replicas":2}}`))
	if err == nil {
		err = w.ops[cdc.BatchStop].Process(ctx, task(cdc.BatchStop), nil, nil)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v, wanted the context's error", err)
	}
}

type roundTrip func(request *http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestTheDeadlineIsKept(t *testing.T) {
	for name, options := range map[string]connecttest.Options{
		"a state that never comes": {Settle: time.Hour},
		"answers that never come":  {Latency: time.Hour},
		"an endless rebalance":     {Rebalance: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options, nil)
			w.fleet.Add("a-k8s", "orders", orders(connecttest.Running))
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			err := w.ops[cdc.BatchChangeConfig].Process(ctx, task(cdc.BatchChangeConfig), nil, raw(`{"change_config":{"replicas":2}}`))
			if err == nil {
				err = w.ops[cdc.BatchStop].Process(ctx, task(cdc.BatchStop), nil, nil)
			}
			if !isDeadline(err) {
				t.Errorf("it ends with %v, wanted the deadline's error", err)
			}
		})
	}
}

// Another node that still works on the same task may make the copy first.
func TestACopyThatAnotherNodeBeganIsFinished(t *testing.T) {
	r, _, final := examples[7].begin(t, connecttest.Options{}, nil)
	r.fleet.Watch(func(request connecttest.Request) {
		if request.Cluster == "a-k8s" && request.Method == "PUT" {
			begun := orders(connecttest.Stopped)
			begun.Config["fairlead.unfinished"] = "arriving"
			begun.Offsets = nil
			r.fleet.Watch(nil)
			r.fleet.Add("b-k8s", "orders", begun)
		}
	})
	r.must(r.forward)
	r.expect("after the copy was finished", final)
}

// A worker that has not seen a stop yet refuses to alter offsets for a moment.
func TestOffsetsAreAlteredWhenTheStopHasReachedTheWorker(t *testing.T) {
	r, _, final := examples[5].begin(t, connecttest.Options{}, nil)
	r.fleet.Fail(connecttest.Failure{Method: "PATCH", Times: 2, Status: 400, Message: "Connectors must be in the STOPPED state before their offsets can be modified."})
	r.must(r.forward)
	r.expect("after the GTID was reset", final)
}
