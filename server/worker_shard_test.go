package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// goOver lets a sweep run and leases the job of its only shard.
func (r *remote) goOver(fields string) (lease string, job map[string]any) {
	r.Helper()
	r.send(200, "POST", sweeps, `{"name":"all","kind":"k",`+fields+`}`)
	r.send(200, "POST", sweeps+"/all/start", `{}`)
	jobs := r.lease("")
	if len(jobs) != 1 || jobs[0]["kind"] != "sweep.k" {
		r.Fatalf("leased %v", jobs)
	}
	return fmt.Sprintf(`"job":%q,"fence":%q`, jobs[0]["id"], jobs[0]["fence"]), jobs[0]
}

func TestAWorkerGoesOverAShard(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["sweep.k"],"slots":2}`)
	shard, job := w.goOver(`"args":{"word":"hi"},"from":10,"to":110,"rate":50,"in_flight":4,"error_budget":{"items":3}`)
	if job["timeout"] == "3600s" {
		t.Errorf("it may take %v", job["timeout"])
	}
	nodes, _ := a.send(200, "GET", "/api/v1/nodes", "")
	for _, node := range items(t, nodes) {
		if remote := node["remote"] == true; remote != (node["sweeps"] == 1.0) {
			t.Errorf("a node is listed as %v", node)
		}
	}
	loaded := w.call(200, "shard", shard)
	wantFields(t, loaded, map[string]any{"number": 0.0, "from": "10", "to": "110", "mark": "10", "done": "0"})
	wantFields(t, loaded["sweep"].(map[string]any), map[string]any{"id": "1", "attempts": 5.0, "state": "running"})

	orders := w.call(200, "checkpoint", shard+`,"mark":10,"to":110`)
	wantFields(t, orders, map[string]any{"stop": false, "rate": 50.0, "in_flight": 4.0, "budget_left": "3"})
	if args := orders["args"].(map[string]any); args["word"] != "hi" {
		t.Errorf("the args are %v", args)
	}
	w.call(200, "items", shard+`,"lines":[{"index":12,"level":"warn","text":"sad"},{"index":10,"text":"glad"}]`)
	orders = w.call(200, "checkpoint", shard+`,"mark":20,"done":9,"abandoned":1,"errors":5,"measured":12.5,"rate":50,"in_flight":4,"failed":[{"index":12,"attempts":5,"error":"no"}]`)
	wantFields(t, orders, map[string]any{"stop": false, "budget_left": "2"})
	sweep, _ := a.send(200, "GET", sweeps+"/all", "")
	wantFields(t, progressOf(sweep), map[string]any{"done": "9", "abandoned": "1", "errors": "5", "marked": "10", "rate": 12.5})
	if failed, _ := a.send(200, "GET", sweeps+"/all/failed", ""); len(items(t, failed)) != 1 || items(t, failed)[0]["index"] != "12" {
		t.Errorf("failed are %v", failed)
	}
	if logs, _ := a.send(200, "GET", sweeps+"/all/logs", ""); len(items(t, logs)) != 2 || items(t, logs)[0]["text"] != "glad" || items(t, logs)[0]["level"] != "info" {
		t.Errorf("the lines are %v", logs)
	}

	a.send(200, "POST", sweeps+"/all/stop", `{}`)
	wantFields(t, w.call(200, "checkpoint", shard+`,"mark":21,"done":10,"abandoned":1`), map[string]any{"stop": true})
	w.settle(job, `"outcome":"succeed"`)
	a.untilStopped(t)
	w.call(409, "checkpoint", shard+`,"mark":22,"done":11,"abandoned":1`)
	w.call(409, "shard", shard)
	w.call(409, "items", shard+`,"stop":"no"`)

	a.send(200, "POST", sweeps+"/all/start", `{}`)
	job = w.lease("")[0]
	shard = fmt.Sprintf(`"job":%q,"fence":%q`, job["id"], job["fence"])
	wantFields(t, w.call(200, "shard", shard), map[string]any{"mark": "21", "done": "10", "abandoned": "1"})
	w.call(200, "checkpoint", shard+`,"mark":110,"done":99,"abandoned":1,"ended":true`)
	w.call(200, "items", shard+`,"stop":"it was the last"`) // which stops nothing any more
	w.settle(job, `"outcome":"succeed"`)
	if sweep, _ := a.send(200, "GET", sweeps+"/all", ""); sweep["state"] != "finished" {
		t.Errorf("it is %v", sweep)
	}

	a.send(200, "POST", sweeps+"/all/retry", `{}`)
	job = w.lease("")[0]
	shard = fmt.Sprintf(`"job":%q,"fence":%q`, job["id"], job["fence"])
	wantFields(t, w.call(200, "shard", shard), map[string]any{"mark": "110", "done": "99", "abandoned": "1", "again": "1"})
	if found := fmt.Sprint(w.call(200, "retries", shard+`,"from":10,"limit":5`)["indexes"]); found != "[12]" {
		t.Errorf("to be tried again are %v", found)
	}
	w.call(200, "checkpoint", shard+`,"mark":110,"done":100,"redone":[12],"ended":true`)
	w.settle(job, `"outcome":"succeed"`)
	sweep, _ = a.send(200, "GET", sweeps+"/all", "")
	wantFields(t, progressOf(sweep), map[string]any{"done": "100", "abandoned": "0"})
	if failed, _ := a.send(200, "GET", sweeps+"/all/failed", ""); len(items(t, failed)) != 0 {
		t.Errorf("failed are %v", failed)
	}
}

// untilStopped looks at a sweep as nodes do until it is stopped.
func (a *api) untilStopped(t *testing.T) map[string]any {
	t.Helper()
	return a.untilSweep(sweeps+"/all", "stopped", inState("stopped"))
}

func TestAWorkerStopsASweep(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["sweep.k"]}`)
	shard, job := w.goOver(`"to":100`)
	w.call(200, "items", shard+`,"stop":"item 7: the target is on fire"`)
	w.call(200, "items", shard+`,"stop":"item 8: and so is the other"`)
	wantFields(t, w.call(200, "checkpoint", shard+`,"mark":7,"done":7`), map[string]any{"stop": true})
	w.settle(job, `"outcome":"succeed"`)
	if sweep := a.untilStopped(t); sweep["reason"] != "item 7: the target is on fire" {
		t.Errorf("it stopped as %v", sweep["reason"])
	}
}

func TestWhatAWorkerCannotSayOfAShard(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["sweep.k","mail"],"slots":3}`)
	shard, _ := w.goOver(`"from":10,"to":110`)
	w.call(200, "checkpoint", shard+`,"mark":20,"done":10`)
	for fields, field := range map[string]string{
		``:                                   "mark",
		`"mark":9`:                           "mark",
		`"mark":111`:                         "mark",
		`"mark":4611686018427387905`:         "mark",
		`"mark":109,"window":"Bw=="`:         "mark",
		`"mark":20,"window":"AA=="`:          "mark",
		`"mark":20,"done":-1`:                "done",
		`"mark":20,"abandoned":-1`:           "abandoned",
		`"mark":20,"errors":-1`:              "errors",
		`"mark":20,"in_flight":-1`:           "in_flight",
		`"mark":20,"done":101`:               "done",
		`"mark":20,"done":60,"abandoned":50`: "done",
		`"mark":20,"done":9223372036854775807,"abandoned":9223372036854775807`: "done",
		`"mark":20,"rate":-1`:                                       "rate",
		`"mark":20,"rate":"NaN"`:                                    "rate",
		`"mark":20,"measured":-2`:                                   "measured",
		`"mark":20,"to":100`:                                        "to",
		`"mark":20,"pending":7`:                                     "pending",
		`"mark":20,"pending":{"aside":"gA=="}`:                      "pending",
		`"mark":20,"pending":{"aside":"PAE="}`:                      "mark",
		`"mark":20,"ended":true`:                                    "ended",
		`"mark":20,"again":1`:                                       "again",
		`"mark":110,"done":99,"abandoned":1,"again":1,"ended":true`: "ended",
		`"mark":20,"redone":[110]`:                                  "redone[0]",
		`"mark":20,"failed":[{"index":10,"error":"x"},{"index":110,"error":"x"}]`: "failed[1].index",
		`"mark":20,"failed":[{"error":"x"}]`:                                      "failed[0].index",
		`"mark":20,"failed":[{"index":10,"attempts":-1}]`:                         "failed[0].attempts",
	} {
		if fields != "" {
			fields = "," + fields
		}
		if problem := w.call(400, "checkpoint", shard+fields); refusals(problem)[field] == "" {
			t.Errorf("%s is refused as %v", fields, problem)
		}
	}
	if problem := w.call(409, "checkpoint", shard+`,"mark":19,"done":9`); !strings.Contains(fmt.Sprint(problem["detail"]), "has progressed beyond 19") {
		t.Errorf("a mark that goes back is refused as %v", problem)
	}
	for fields, field := range map[string]string{
		`"lines":[{"index":9,"text":"x"}]`:                 "lines[0].index",
		`"lines":[{"index":10,"text":"x","level":"loud"}]`: "lines[0].level",
	} {
		if problem := w.call(400, "items", shard+","+fields); refusals(problem)[field] == "" {
			t.Errorf("%s is refused as %v", fields, problem)
		}
	}
	if failed, _ := a.send(200, "GET", sweeps+"/all/failed", ""); len(items(t, failed)) != 0 {
		t.Errorf("failed are %v", failed)
	}

	// Another's, and jobs that no sweep has employed.
	other := a.join(`{"kinds":["sweep.k"]}`)
	other.call(409, "checkpoint", shard+`,"mark":30,"done":20`)
	for _, stray := range []struct{ kind, args, why string }{
		{"mail", `{}`, "does not process shards of a sweep"},
		{"mail", `{"sweep_id":1,"shard":0}`, "does not process shards of a sweep"},
		{"sweep.k", `7`, "does not process shards of a sweep"},
		{"sweep.k", `{"sweep_id":1,"shard":0}`, "no longer belongs to this job"},
		{"sweep.k", `{"sweep_id":1,"shard":1}`, "no longer belongs to this job"},
		{"sweep.k", `{"sweep_id":1,"shard":-1}`, "no longer belongs to this job"},
		{"sweep.k", `{"sweep_id":9,"shard":0}`, "no longer belongs to this job"},
	} {
		if err := fairlead.NewClient(a.store).Enqueue(t.Context(), &fairlead.Job{Kind: stray.kind, Args: json.RawMessage(stray.args)}); err != nil {
			t.Fatal(err)
		}
		job := w.lease(`"max":1`)[0]
		own := fmt.Sprintf(`"job":%q,"fence":%q`, job["id"], job["fence"])
		for what, fields := range map[string]string{"shard": "", "checkpoint": `,"mark":30`, "items": `,"stop":"x"`} {
			if problem := w.call(400, what, own+fields); !strings.Contains(refusals(problem)["job"], stray.why) {
				t.Errorf("%s of a %s with %s is refused as %v", what, stray.kind, stray.args, problem)
			}
		}
		w.settle(job, `"outcome":"succeed"`)
	}
}

// The end of a list is known only once it was read: until then any item may be of it.
func TestAWorkerFindsOutWhereAShardEnds(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["sweep.k"]}`)
	shard, job := w.goOver(`"from":3,"serial":true,"source":{"file":"/lists/users"}`)
	wantFields(t, w.call(200, "shard", shard), map[string]any{"from": "3", "to": "0"})
	w.call(200, "items", shard+`,"lines":[{"index":7,"text":"glad"}]`)
	w.call(200, "checkpoint", shard+`,"mark":8,"done":4,"abandoned":1,"failed":[{"index":7,"attempts":5,"error":"no"}]`)
	refused := func(fields, field string) {
		t.Helper()
		if problem := w.call(400, "checkpoint", shard+fields); refusals(problem)[field] == "" {
			t.Errorf("%s is refused as %v", fields, problem)
		}
	}
	refused(`,"mark":8,"to":2`, "to")
	w.call(200, "checkpoint", shard+`,"mark":8,"done":4,"abandoned":1,"to":9`)
	refused(`,"mark":8,"to":8`, "to")
	refused(`,"mark":8,"done":6,"abandoned":1`, "done")
	refused(`,"mark":10`, "mark")
	if problem := w.call(400, "items", shard+`,"lines":[{"index":9,"text":"sad"}]`); refusals(problem)["lines[0].index"] == "" {
		t.Errorf("an item behind the end is refused as %v", problem)
	}
	w.call(200, "checkpoint", shard+`,"mark":9,"done":5,"abandoned":1,"ended":true`)
	w.settle(job, `"outcome":"succeed"`)
	sweep, _ := a.send(200, "GET", sweeps+"/all", "")
	wantFields(t, sweep, map[string]any{"state": "finished"})
	wantFields(t, progressOf(sweep), map[string]any{"total": "6", "done": "5", "abandoned": "1"})
}

// Who wants to be asked before a sweep runs is told that a run took up what another had
// begun: once for each such run.
func TestTheBusinessIsToldOfARunThatTakesUpAShard(t *testing.T) {
	a := newAPI(t)
	w := a.join(`{"kinds":["sweep.k"]}`)
	calls := func() (n int) {
		jobs, err := a.store.Find(t.Context(), fairlead.Filter{Kinds: []string{sweep.GateKind}, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			if strings.Contains(string(job.Args), `"again":true`) {
				n++
			}
		}
		return n
	}
	a.send(200, "POST", sweeps, `{"name":"all","kind":"k","to":100,"gate":{"before_run":"http://127.0.0.1:1"}}`)
	a.send(200, "POST", sweeps+"/all/start", `{}`)
	a.send(200, "POST", sweeps+"/all/open", `{}`)
	for run := range 3 {
		job := w.lease("")[0]
		shard := fmt.Sprintf(`"job":%q,"fence":%q`, job["id"], job["fence"])
		w.call(200, "shard", shard)
		w.call(200, "checkpoint", shard+fmt.Sprintf(`,"mark":%d,"done":%d`, run+1, run+1))
		w.call(200, "shard", shard) // as after a restart of the worker
		if got := calls(); got != run {
			t.Errorf("in run %d it was told %d times, want %d", run+1, got, run)
		}
		w.settle(job, `"outcome":"fail","error":"the worker was killed","after":"1ms"`)
		a.eventually("the shard is ready again", func() bool {
			_, err := a.store.Promote(t.Context(), 10)
			found, findErr := a.store.Find(t.Context(), fairlead.Filter{Kinds: []string{"sweep.k"}, States: []fairlead.State{fairlead.Ready}, Limit: 1})
			if err != nil || findErr != nil {
				t.Fatal(err, findErr)
			}
			return len(found) == 1
		})
	}
}
