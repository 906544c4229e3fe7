package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc/connecttest"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// cdcWorld is two Kafka Connect clusters, one per zone, and nodes that work on them.
type cdcWorld struct {
	*testing.T
	fleet *connecttest.Fleet
	args  []string
	asked *process // the node that is asked
}

func newCDCWorld(t *testing.T, db string, options connecttest.Options, flags ...string) *cdcWorld {
	fleet := connecttest.New(t, options)
	file := filepath.Join(t.TempDir(), "cdc.yaml")
	settings := fmt.Sprintf(`
clusters:
  - {name: a, env: live, az: az1, url: %q}
  - {name: b, env: live, az: az2, url: %q}
poll: 20ms
max_poll: 200ms
`, fleet.URL("a"), fleet.URL("b"))
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &cdcWorld{T: t, fleet: fleet, args: []string{"--db", db, "--cdc", file, "--poll", "50ms", "--slots", "8"}}
	w.args = append(w.args, flags...)
	w.asked = startProcess(t, w.args...)
	return w
}

// connectors puts connectors on the first cluster and returns them as tasks of a
// batch.
func (w *cdcWorld) connectors(n int, after string) string {
	tasks := make([]string, n)
	for i := range tasks {
		name := fmt.Sprintf("orders-%03d", i)
		w.fleet.Add("a", name, connecttest.Connector{
			Config: map[string]string{"connector.class": "io.debezium.connector.mysql.MySqlConnector", "tasks.max": "1", "database.server.id": fmt.Sprint(i)},
			Offsets: []connecttest.Offset{{
				Partition: json.RawMessage(fmt.Sprintf(`{"server":%q}`, name)),
				Offset:    json.RawMessage(fmt.Sprintf(`{"gtids":"uuid:1-%d","pos":%d}`, 100+i, i)),
			}},
		})
		tasks[i] = fmt.Sprintf(`{"target":{"id":"%d","name":%q,"type":"cdc"},"after":%s}`, i, name, after)
	}
	return strings.Join(tasks, ",")
}

func (w *cdcWorld) create(fields, tasks string) string {
	w.Helper()
	answer := w.asked.send(w.T, "POST", "/api/v1/batches", `{"env":"live","az":"az1",`+fields+`,"tasks":[`+tasks+`]}`)
	return "/api/v1/batches/" + answer["id"].(string)
}

func (w *cdcWorld) do(batch, action, body string) {
	w.Helper()
	w.asked.send(w.T, "POST", batch+"/"+action, body)
}

// until waits for something to hold of a batch.
func (w *cdcWorld) until(batch, what string, holds func(b map[string]any) bool) map[string]any {
	w.Helper()
	var b map[string]any
	for begun := time.Now(); time.Since(begun) < patience.Limit; <-time.After(20 * time.Millisecond) {
		if b = w.asked.send(w.T, "GET", batch, ""); holds(b) {
			return b
		}
	}
	w.Fatalf("the batch is never %s: %v", what, b)
	return nil
}

// ended waits for the batch to complete in a state.
func (w *cdcWorld) ended(batch, state string) map[string]any {
	w.Helper()
	b := w.until(batch, "over", func(b map[string]any) bool { return b["ended_at"] != nil })
	if b["state"] != state {
		w.Fatalf("the batch ended as %v, wanted %s: %v", b["state"], state, b["tally"])
	}
	return b
}

func count(b map[string]any, state string) int {
	n, _ := b["tally"].(map[string]any)[state].(float64)
	return int(n)
}

// want expects the clusters to be as they were.
func (w *cdcWorld) want(before map[string]map[string]connecttest.Connector) {
	w.Helper()
	if now := w.fleet.Snapshot(); !reflect.DeepEqual(now, before) {
		for cluster := range before {
			for name := range before[cluster] {
				if !reflect.DeepEqual(now[cluster][name], before[cluster][name]) {
					w.Errorf("%s on %s is %+v, was %+v", name, cluster, now[cluster][name], before[cluster][name])
				}
			}
			w.Errorf("cluster %s has %d connectors, had %d", cluster, len(now[cluster]), len(before[cluster]))
		}
	}
}

// Two hundred connectors switch zones while one in ten fails and a node is killed. The
// failed ones are retried, and then everything is rolled back to the initial state.
func TestConnectorsSwitchZonesAndBack(t *testing.T) {
	tier.Long(t, "kills a node and waits for its lease to end")
	t.Parallel()
	w := newCDCWorld(t, testdb.Postgres(t), connecttest.Options{Settle: 10 * time.Millisecond, Rebalance: 5 * time.Millisecond}, "--beat", "200ms", "--lease", "1s")
	victim := startProcess(t, w.args...)
	w.fleet.Fail(connecttest.Failure{Method: "POST", PerConnector: true, Ratio: 0.1, Times: 1, Seed: 1})
	tasks := w.connectors(200, `{"switch_az":{"az":"az2"}}`)
	before := w.fleet.Snapshot()
	batch := w.create(`"name":"switch","type":"cdc_switch_az"`, tasks)
	w.until(batch, "half done", func(b map[string]any) bool { return count(b, "success") >= 50 })
	victim.kill()
	failed := w.ended(batch, "partial_fail")
	if n := count(failed, "fail"); n < 5 || n > 60 || n+count(failed, "success") != 200 {
		t.Fatalf("the tally is %v", failed["tally"])
	}
	w.do(batch, "retry", `{}`)
	w.ended(batch, "success")
	if now := w.fleet.Snapshot(); len(now["a"]) != 0 || len(now["b"]) != 200 {
		t.Fatalf("%d connectors are in the old zone, %d in the new", len(now["a"]), len(now["b"]))
	}
	w.do(batch, "rollback", `{}`)
	w.ended(batch, "rollback_success")
	w.want(before)
}

// The first tasks go ahead; the others follow when the batch is approved.
func TestACanaryGoesAheadOfTheOthers(t *testing.T) {
	t.Parallel()
	w := newCDCWorld(t, sqlitetest.URL(t), connecttest.Options{})
	batch := w.create(`"name":"stop","type":"cdc_job_stop","canary":{"tasks":3}`, w.connectors(20, `null`))
	b := w.until(batch, "awaiting", func(b map[string]any) bool { return b["awaiting"] == true })
	if count(b, "success") != 3 || count(b, "pending") != 17 {
		t.Fatalf("after the canary the tally is %v", b["tally"])
	}
	w.do(batch, "approve", `{}`)
	w.ended(batch, "success")
}

// Failures pause a batch. It continues when it is resumed.
func TestFailuresPauseABatch(t *testing.T) {
	t.Parallel()
	w := newCDCWorld(t, sqlitetest.URL(t), connecttest.Options{})
	w.fleet.Fail(connecttest.Failure{Method: "PUT"})
	batch := w.create(`"name":"stop","type":"cdc_job_stop","max_running":2,"stop_after":{"failures":3}`, w.connectors(40, `null`))
	b := w.until(batch, "paused", func(b map[string]any) bool { return b["paused"] == true && count(b, "running") == 0 })
	if n := count(b, "fail"); n < 3 || n > 5 || count(b, "pending") != 40-n {
		t.Fatalf("paused the tally is %v", b["tally"])
	}
	w.fleet.Heal()
	w.do(batch, "resume", `{}`)
	w.ended(batch, "partial_fail")
	w.do(batch, "retry", `{}`)
	w.ended(batch, "success")
}

// Chosen tasks are rolled back, then the others; what fails of it is resumed.
func TestRollbacksOfSomeAndResumed(t *testing.T) {
	t.Parallel()
	w := newCDCWorld(t, sqlitetest.URL(t), connecttest.Options{})
	tasks := w.connectors(10, `{"change_config":{"replicas":4}}`)
	before := w.fleet.Snapshot()
	batch := w.create(`"name":"grow","type":"cdc_change_config"`, tasks)
	w.ended(batch, "success")
	listed := w.asked.send(t, "GET", batch+"/tasks?page_size=3", "")
	var chosen []string
	for _, item := range listed["items"].([]any) {
		chosen = append(chosen, `"`+item.(map[string]any)["id"].(string)+`"`)
	}
	w.do(batch, "rollback", `{"tasks":[`+strings.Join(chosen, ",")+`]}`)
	b := w.ended(batch, "success") // those that were rolled back count no more
	if count(b, "rollback_success") != 3 || count(b, "success") != 7 {
		t.Fatalf("three were rolled back: %v", b["tally"])
	}
	w.fleet.Fail(connecttest.Failure{Method: "PUT", PerConnector: true, Ratio: 0.5, Seed: 7})
	w.do(batch, "rollback", `{}`)
	b = w.ended(batch, "rollback_fail")
	if n := count(b, "rollback_fail"); n == 0 || n+count(b, "rollback_success") != 10 {
		t.Fatalf("half of it failed: %v", b["tally"])
	}
	w.fleet.Heal()
	w.do(batch, "rollback", `{}`)
	w.ended(batch, "rollback_success")
	w.want(before)
}
