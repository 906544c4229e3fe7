package server_test

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/driver"
)

func TestACallThatWaitsIsAnsweredWhenThereIsWork(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"slots":1,"queues":["a","b"]}`)
	if jobs := w.lease(`"wait":"20ms"`); len(jobs) != 0 {
		t.Errorf("leased %v", jobs)
	}
	leased := make(chan []map[string]any)
	wait := func(fields string) {
		go func() { leased <- w.lease(fields) }()
	}
	wait(`"wait":"60s","queues":["b"]`)
	a.enqueue(`{"kind":"k","queue":"a"}`)
	a.enqueue(`{"kind":"k","queue":"b"}`)
	job := (<-leased)[0]
	if job["queue"] != "b" {
		t.Errorf("leased %v", job)
	}
	wait(`"wait":"60s"`)
	w.settle(job, `"outcome":"succeed"`) // its slot is free now
	if jobs := <-leased; len(jobs) != 1 || jobs[0]["queue"] != "a" {
		t.Errorf("leased %v", jobs)
	}
}

func TestABeatThatWaitsTellsAWishAtOnceAndOnlyOnce(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"],"lease":"5m"}`)
	path := a.enqueue(`{"kind":"k"}`)
	job := w.lease("")[0]
	heard := make(chan []map[string]any)
	go func() { heard <- listOf(w.call(200, "beat", `"wait":"60s","lease":"5m"`), "cancel") }()
	a.send(200, "POST", path+"/cancel", "{}")
	if stops := <-heard; len(stops) > 1 || len(stops) == 1 && stops[0]["fence"] != job["fence"] {
		t.Errorf("heard %v", stops)
	}
	begin := time.Now()
	w.call(200, "beat", `"wait":"100ms","heard":[{"id":"`+job["id"].(string)+`","fence":"`+job["fence"].(string)+`"}]`)
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("what is known ended the wait after %v", took)
	}
}

// Jobs that may have killed their nodes run on a worker too, one at a time.
func TestAWorkerTakesCrashSuspectsAlone(t *testing.T) {
	a := newAPI(t)
	for range 2 {
		a.enqueue(`{"kind":"k"}`)
	}
	scope := &driver.Scope{Kinds: []string{"k"}}
	for i := range driver.SoloAfter {
		node, err := a.store.Join(t.Context(), fairlead.Node{Kinds: scope.Kinds}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if jobs, err := a.store.Claim(t.Context(), driver.Claim{Node: node, Scope: scope, Max: 2}); err != nil || len(jobs) != 2 {
			t.Fatalf("claim %d: %v %v", i, jobs, err)
		}
		if err := a.store.Leave(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		if _, err := a.store.Reap(t.Context(), driver.Reap{MaxCrashes: 20, Limit: 10}); err != nil {
			t.Fatal(err)
		}
	}
	busy := a.join(`{"kinds":["k","other"],"slots":1}`)
	a.enqueue(`{"kind":"other"}`)
	busy.lease(`"suspects":"none"`)
	if none := busy.lease(`"suspects":"only"`); len(none) != 0 {
		t.Fatalf("a worker without a free slot leased %v", none)
	}
	w := a.join(`{"kinds":["k"],"slots":5}`)
	if none := w.lease(`"suspects":"none"`); len(none) != 0 {
		t.Fatalf("suspects are leased among others: %v", none)
	}
	first := w.lease(`"wait":"10s"`)
	if len(first) != 1 {
		t.Fatalf("leased %v, want one suspect", first)
	}
	if second := w.lease(`"suspects":"only"`); len(second) != 0 {
		t.Fatalf("two suspects at once: %v", second)
	}
	w.settle(first[0], `"outcome":"succeed"`)
	if second := w.lease(`"suspects":"only"`); len(second) != 1 {
		t.Errorf("the second suspect is not leased: %v", second)
	}
}

func TestADrainingWorkerGetsNothing(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k"]}`)
	id := w.path[len("/api/v1/workers/"):]
	a.send(200, "POST", "/api/v1/nodes/"+id+"/drain", "{}")
	a.enqueue(`{"kind":"k"}`)
	if answer := w.call(200, "beat", ""); answer["drain"] != true {
		t.Errorf("the beat says %v", answer)
	}
	if answer := w.call(200, "lease", ""); answer["drain"] != true || answer["jobs"] != nil {
		t.Errorf("leased %v", answer)
	}
	a.send(200, "POST", "/api/v1/nodes/"+id+"/drain", `{"undo":true}`)
	if jobs := w.lease(`"wait":"20s"`); len(jobs) != 1 {
		t.Errorf("leased %v", jobs)
	}
}

func TestJobsAreStreamedIntoFreeSlots(t *testing.T) {
	a := newAPI(t)
	plaintext := &http.Transport{Protocols: new(http.Protocols)}
	plaintext.Protocols.SetUnencryptedHTTP2(true)
	workers := fairleadv1connect.NewWorkerServiceClient(&http.Client{Transport: plaintext}, a.url, connect.WithGRPC())
	joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := workers.WatchWorker(t.Context(), &fairleadv1.WatchWorkerRequest{Id: joined.GetId(), Session: joined.GetSession()})
	if err != nil || !watch.Receive() || watch.Msg().GetWhat() != "alive" {
		t.Fatalf("watching begins with %v (%v)", watch, err)
	}
	jobs, err := workers.StreamJobs(t.Context(), &fairleadv1.StreamJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a.enqueue(`{"kind":"k"}`)
	}
	if !watch.Receive() || watch.Msg().GetWhat() != "work" {
		t.Errorf("the news are %v", watch.Msg())
	}
	for range 3 {
		if !jobs.Receive() {
			t.Fatal(jobs.Err())
		}
		end := &fairleadv1.RunEnd{Id: jobs.Msg().GetId(), Fence: jobs.Msg().GetFence(), Outcome: "succeed"}
		settled, err := workers.SettleJobs(t.Context(), &fairleadv1.SettleJobsRequest{Id: joined.GetId(), Session: joined.GetSession(), Settlements: []*fairleadv1.RunEnd{end}})
		if err != nil || settled.GetResults()[0].GetState() != "succeeded" {
			t.Fatalf("settled as %v (%v)", settled, err)
		}
	}
	_, err = workers.BeatWorker(t.Context(), &fairleadv1.BeatWorkerRequest{Id: joined.GetId(), Session: "x"})
	if connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a wrong session is %v", err)
	}
}

func TestAWorkerGetsAsManyJobsAsItAsksForAndHasRoomFor(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["k","l"],"slots":2,"queue_capacity":1,"queues":["a","b"]}`)
	for range 3 {
		a.enqueue(`{"kind":"k","queue":"a"}`)
		a.enqueue(`{"kind":"l","queue":"b"}`)
	}
	for _, step := range []struct {
		fields string
		want   int
	}{
		{`"max":5,"queues":["c"]`, 0},
		{`"max":5,"rooms":[{"kind":"k","max":0},{"kind":"l","max":0}]`, 0},
		{`"max":1`, 1},
		{``, 1}, // as many as there are slots
		{``, 0},
		{`"max":5`, 1}, // it may keep one in its own queue
		{`"max":5`, 0},
	} {
		if got := w.lease(step.fields); len(got) != step.want {
			t.Errorf("%s: leased are %v, want %d", step.fields, got, step.want)
		}
	}
	free := a.join(`{"kinds":["k","l"],"slots":5}`) // it serves all queues
	if got := free.lease(`"queues":["b"],"rooms":[{"kind":"l","max":1}]`); len(got) != 1 || got[0]["queue"] != "b" {
		t.Errorf("leased are %v", got)
	}
	w.call(400, "lease", `"wait":"-1s"`)
}
