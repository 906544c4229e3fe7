package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// fieldsOfCanaries are the confidential fields of the kinds of the test.
var fieldsOfCanaries = map[string][]string{
	"http":        {"args.vars.secret", "args.body.secret", "args.headers.X-Hidden", "output.response.body.secret", "progress.response.body.secret", "progress.secret"},
	"sweep.http":  {"args.vars.secret", "args.body.secret", "args.headers.X-Hidden"},
	"sweep.greet": {"args.secret"},
	"external":    {"args.secret", "output.secret"},
	"pay":         {"args.secret", "output.secret", "progress.secret", "memo.secret"},
	"wall.paint":  {"args.before.secret", "args.after.secret", "args.extra_info.secret", "args.target.name"},
	"noop":        {"args.secret"},
}

// No surface shows a confidential value to a caller that may not reveal it, however targets,
// workers and services spell the value.
func TestNoSurfaceShowsAConfidentialValue(t *testing.T) {
	tier.Long(t, "runs hundreds of jobs and reads every page about them")
	t.Parallel()
	c := newCanaries(t, fieldsOfCanaries, "--target-max-failures", "0")
	c.runAlerts(true, "calls", "work", "shop", "schedules")
	c.runCalls()
	c.lasting(hostileSecrets[0])
	c.runSchedules()
	c.runExternal()
	c.runWorker()
	c.settle()
	c.runBulk()
	c.sayWrong()
	for path, count := range map[string]int{"/alert": 4, "/schedule": 3, "/notice": 7, "/batch": 7} {
		c.until("messages arrived at "+path, func() bool { return len(c.received(hook+path)) >= count })
	}
	c.readAll()
	for _, protocol := range []string{"Connect ", "gRPC "} {
		for _, method := range []string{
			"GetAlert", "GetBatch", "GetBatchJob", "GetJob", "GetSchedule", "GetSweep", "GetTask", "GetTaskRun", "ListAlerts", "ListBatchTasks", "ListBatches", "ListJobs", "ListSchedules",
			"ListSweeps", "ListTaskRuns", "ListTasks", "WatchBatch", "WatchJob", "WatchSweep",
		} {
			c.wantOpen(protocol + method)
		}
	}
	c.wantOpen(
		"REST /api/batch/{id}", "REST /api/v1/alerts", "REST /api/v1/alerts/{name}", "REST /api/v1/audit", "REST /api/v1/batches", "REST /api/v1/batches/{id}", "REST /api/v1/batches/{id}/tasks",
		"REST /api/v1/batches/{id}/watch", "REST /api/v1/jobs", "REST /api/v1/jobs/{id}", "REST /api/v1/jobs/{id}/attempts", "REST /api/v1/jobs/{id}/watch", "REST /api/v1/runs/{id}", "REST /api/v1/schedules",
		"REST /api/v1/schedules/{id}", "REST /api/v1/sweeps", "REST /api/v1/sweeps/{id}", "REST /api/v1/sweeps/{id}/watch", "REST /api/v1/tasks", "REST /api/v1/tasks/{id}", "REST /api/v1/tasks/{id}/runs",
		"answers to PATCH", "answers to POST", "command alert list", "command audit list", "command batch get", "command batch list", "command batch tasks", "command export", "command job get", "command job list",
		"command schedule export", "command schedule get", "command schedule list", "command sweep get", "command sweep list", "command task get", "command task list", "command task runs", "console batches",
		"console documents", "console failures", "console jobs", "console live", "console schedules", "console sweeps", "messages to /alert", "messages to /notice", "spans",
	)
}

// readAll reads every surface, the log last.
func (c *canaries) readAll() {
	c.listJobs()
	c.known["/api/v1/jobs/"] = c.jobs
	c.known["/api/v1/runs/"] = runsOf(c)
	c.known["/api/v1/nodes/"] = c.idsOf("/api/v1/nodes")
	c.Logf("%d jobs", len(c.jobs))
	c.readREST()
	c.readRPC()
	for _, role := range readers {
		c.readConsole(role)
		c.readCommands(role)
	}
	c.readOutputs()
}

// runsOf lists the jobs of schedules that the older API shows.
func runsOf(c *canaries) (ids []string) {
	for _, task := range c.known["/api/v1/tasks/"] {
		ids = append(ids, c.idsOf("/api/v1/tasks/"+task+"/runs")...)
	}
	return ids
}

// idsOf returns the IDs of the first page of a list.
func (c *canaries) idsOf(path string) (ids []string) {
	items, _ := c.must("GET", path, nil)["items"].([]any)
	for _, item := range items {
		ids = append(ids, item.(object)["id"].(string))
	}
	return ids
}

// command runs a command of the program against the node.
func (c *canaries) command(role string, args ...string) (out string) {
	c.Helper()
	var stdout, stderr strings.Builder
	if code := run(c.Context(), append(args, "--server", c.node.url, "--token", c.tokens[role]), &stdout, &stderr); code != exitOK {
		c.Errorf("%s as %s: exit %d: %s", strings.Join(args, " "), role, code, stderr.String())
	}
	return stdout.String() + stderr.String()
}

// readCommands reads with the commands of the program.
func (c *canaries) readCommands(role string) {
	read := func(args ...string) string {
		out := c.command(role, args...)
		c.note("command "+strings.Join(args[:min(2, len(args))], " "), strings.Join(args, " ")+" as "+role, out)
		return out
	}
	for _, command := range []string{
		"job list --limit 0 -o json", "job list", "job count", "schedule list", "schedule list -o json", "schedule export", "task list -o json", "batch list -o json", "sweep list -o json", "alert list -o json",
		"bulk list -o json", "kind list", "tenant list -o json", "hold list", "stats", "node list", "queue list", "limit list", "whoami", "export",
	} {
		read(strings.Fields(command)...)
	}
	for i, id := range some(c.jobs, 8) {
		read("job", "get", id, "-o", []string{"json", "table", "yaml"}[i%3])
		read("job", "attempts", id)
		read("job", "explain", id)
		read("job", "explain", id, "--history")
	}
	for list, commands := range map[string][]string{
		"/api/v1/schedules/": {"schedule get", "schedule explain", "schedule runs", "schedule stats", "schedule preview"}, "/api/v1/tasks/": {"task get", "task runs"},
		"/api/v1/batches/": {"batch get", "batch tasks", "batch explain"}, "/api/v1/sweeps/": {"sweep get", "sweep failed", "sweep history", "sweep logs", "sweep shards", "sweep explain"},
		"/api/v1/alerts/": {"alert get"}, "/api/v1/bulks/": {"bulk get", "bulk misses"}, "/api/v1/tenants/": {"tenant get", "tenant stats"},
	} {
		for _, command := range commands {
			for _, name := range some(c.known[list], 4) {
				read(append(strings.Fields(command), name, "-o", "json")...)
				read(append(strings.Fields(command), name)...)
			}
		}
	}
	if role != "operator" {
		return
	}
	read("tenant", "update", "shop", "--max-running", "3", "--what-if")
	read("schedule", "update", "s0", "--daily", "03:00", "--what-if")
	c.noteAnswer("viewer", "POST", "/api/v1/what-if", object{})
	c.noteAnswer("viewer", "POST", "/api/v1/what-if", object{"changes": []object{{"tenant": object{"name": "shop", "max_running": 3}}}})
	c.noteAnswer("viewer", "POST", "/api/v1/what-if", object{"changes": []object{{"schedule_patch": object{"ref": "s1", "cron": "@daily"}}}})
}

// readOutputs reads what the node sends without being asked: messages, metrics, spans and its log,
// for which it ends.
func (c *canaries) readOutputs() {
	for _, path := range []string{"/schedule", "/notice", "/alert", "/batch"} {
		for _, message := range c.received(hook + path) {
			c.note("messages to "+path, "a message", message)
		}
	}
	status, metrics := c.fetch(http.DefaultClient, "viewer", "GET", "/metrics", "", "")
	if status != http.StatusOK || !strings.Contains(metrics, "fairlead_") {
		c.Errorf("metrics: %d %.200s", status, metrics)
	}
	c.note("metrics", "/metrics", metrics)
	c.note("command audit list", "audit list as admin", c.command("admin", "audit", "list", "--limit", "0", "-o", "json"))
	c.node.cancel()
	if code := <-c.node.exit; code != exitOK {
		c.Errorf("exit %d", code)
	}
	log := <-c.node.log
	if !strings.Contains(log, "level=WARN") || !strings.Contains(log, "error=") {
		c.Errorf("the log does not say what failed: %.500s", log)
	}
	for i, line := range strings.Split(log, "\n") {
		c.note("log", fmt.Sprintf("line %d", i), line)
	}
	for _, span := range strings.Split(string(c.spans()), "\n\x10") { // before the ID of each trace
		c.note("spans", "a span", span)
	}
}
