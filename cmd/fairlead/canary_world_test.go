package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

// canaries runs the whole program with confidential values in all objects that may have them.
type canaries struct {
	*surfaces // requests of an admin
	*echo
	tokens map[string]string // by role
	spans  func() []byte
	admin  string // URL of the metrics
	jobs   []string
	known  map[string][]string // values of parameters in paths, by the beginning of the path

	leaks int
	open  map[string]bool // surfaces that show values that are not confidential
}

// readers are the roles that may look but not reveal.
var readers = []string{"viewer", "operator"}

func newCanaries(t *testing.T, fields map[string][]string, args ...string) *canaries {
	dir, secret := t.TempDir(), strings.Repeat("t0ken-", 8)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	collector, spans := collector(t)
	c := &canaries{echo: newEcho(t), tokens: map[string]string{"admin": secret}, spans: spans, known: map[string][]string{"/api/v1/calendars/": nil}, open: map[string]bool{}}
	node := startServe(t, append(args, "--db", sqlitetest.URL(t), "--token-file", file("token", secret), "--allow-target", "127.0.0.1", "--allow-secret", "file:"+file("node-secret", secretMark+"-of-node"),
		"--log-level", "debug", "--otlp-endpoint", collector, "--poll", "20ms", "--request-timeout", "1s", "--slots", "64", "--node-name", "ada")...)
	c.surfaces = &surfaces{T: t, node: node, token: secret}
	c.known["secret file"] = []string{filepath.Join(dir, "node-secret")}
	for _, role := range []string{"viewer", "operator", "submitter", "worker"} {
		c.tokens[role], _ = c.must("POST", "/api/v1/tokens", object{"name": role, "role": role})["secret"].(string)
	}
	for kind, paths := range fields {
		c.command("admin", "kind", "set", kind, "--confidential", strings.Join(paths, ","))
	}
	return c
}

// enqueue stores a job and reports whether the program accepts it.
func (c *canaries) enqueue(fields object) bool {
	c.Helper()
	fields["retry"] = object{"base": "10ms"}
	if fields["max_attempts"] == nil {
		fields["max_attempts"] = 2
	}
	answer, fine := c.ask("POST", "/api/v1/jobs", object{"jobs": []object{fields}})
	if !fine {
		return false
	}
	c.jobs = append(c.jobs, answer["ids"].([]any)[0].(string))
	return true
}

// vars returns a confidential value and its twin for placeholders.
func vars(secret string) object { return object{"secret": secret, "note": twin(secret)} }

const (
	secretHere = "{{args.secret}}"
	openHere   = "{{args.note}}"
)

// calls returns the args of calls with a confidential value in each place, by the name of the place.
func (c *canaries) calls(way, secret string) map[string]object {
	target := c.URL + way
	form := object{"Content-Type": "application/x-www-form-urlencoded"}
	calls := map[string]object{
		"query":     {"url": target + "?q=" + secretHere + "&n=" + openHere, "vars": vars(secret)},
		"path":      {"url": target + "/" + secretHere + "/" + openHere, "vars": vars(secret)},
		"form":      {"url": target, "headers": form, "body": "a=" + secretHere + "&n=" + openHere, "vars": vars(secret)},
		"JSON":      {"url": target, "body": object{"again": secretHere, "open": openHere}, "vars": vars(secret)},
		"text":      {"url": target, "headers": object{"Content-Type": "text/plain"}, "body": "it is " + secretHere + " and " + openHere, "vars": vars(secret)},
		"header":    {"url": target, "headers": object{"X-Filled": secretHere, "X-Open": openHere}, "vars": vars(secret)},
		"body":      {"url": target, "body": object{"secret": secret, "note": twin(secret)}},
		"form body": {"url": target, "headers": form, "body": object{"secret": secret, "note": twin(secret)}},
		"literal":   {"url": target, "headers": object{"X-Hidden": secret, "X-Open": twin(secret)}},
		"bearer":    {"url": target, "headers": object{"Authorization": "Bearer " + secret, "X-Open": twin(secret)}},
		"basic":     {"url": target, "headers": object{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+secret)), "X-Open": twin(secret)}},
		"criteria":  {"url": target, "body": object{"secret": secret, "note": twin(secret)}, "success": object{"expression": "int(body.secret) > int(body.note)"}},
		"async":     {"url": c.URL + accepts, "async": true, "body": object{"secret": secret, "note": twin(secret)}},
	}
	for _, kept := range []int{0, 1, 3, 7} { // bytes of the value before the cut
		padding := strings.Repeat("x", 16<<10-len(`{"note":"","p":"","s":"`+openNest)-len(openMark)-kept)
		calls[fmt.Sprintf("cut after %d", kept)] = object{"url": target, "body": literal(object{"note": openMark, "p": padding, "s": openNest + secretHere}), "vars": vars(secret)}
	}
	return calls
}

// runCalls runs calls of each place with each value, and has targets answer in every way.
func (c *canaries) runCalls() {
	ways := []string{answers, refuses, redirects, explains, garbles, breaksOff, hangs}
	accepted := map[string]int{}
	for i, secret := range hostileSecrets {
		calls := c.calls("WAY", secret)
		for j, place := range slices.Sorted(maps.Keys(calls)) {
			args := calls[place]
			args["url"] = strings.Replace(args["url"].(string), "WAY", ways[(i+j)%len(ways)], 1)
			args["timeout_seconds"] = 1
			if c.enqueue(object{"kind": "http", "tenant": "calls", "args": args}) {
				accepted[place]++
			}
		}
	}
	for place := range c.calls("", hostileSecrets[0]) {
		if accepted[place] == 0 {
			c.Errorf("no call with a value in the %s was accepted", place)
		}
	}
	node := "${file:" + c.known["secret file"][0] + "}"
	for _, way := range ways {
		c.enqueue(object{"kind": "http", "tenant": "calls", "args": object{"url": c.URL + way + "?q=" + node, "headers": object{"X-Node": node}, "body": object{"s": node, "note": openMark}, "timeout_seconds": 1}})
	}
}

// lasting stores jobs that have not ended when all is read: one that waits for a callback, and one
// that waits for its next attempt.
func (c *canaries) lasting(secret string) {
	body := object{"secret": secret, "note": twin(secret)}
	c.enqueue(object{"kind": "http", "tenant": "lasting", "args": object{"url": c.URL + waits, "async": true, "body": body}})
	c.enqueue(object{"kind": "http", "tenant": "lasting", "retry": object{"base": "1h"}, "args": object{"url": c.URL + explains + "?q=" + secretHere, "body": body, "vars": vars(secret)}})
	c.enqueue(object{"kind": "http", "tenant": "lasting", "args": object{"url": c.URL + answers, "body": body}, "not_before": time.Now().Add(time.Hour)})
}

// runSchedules runs and tests schedules whose alerts have confidential values too.
func (c *canaries) runSchedules() {
	for i, secret := range hostileSecrets {
		name := fmt.Sprintf("s%d", i)
		args := object{"url": c.URL + refuses + "?q=" + secretHere + "&n=" + openHere, "body": object{"secret": secret, "note": twin(secret)}, "vars": vars(secret), "timeout_seconds": 1}
		alert := object{"url": c.URL + hook + "/schedule", "on": []string{"failure"}}
		if i%2 == 0 { // its target gets what the alert says
			alert["url"], alert["body"] = c.URL+hook+"/target", object{"secret": secret, "note": twin(secret)}
		}
		c.must("POST", "/api/v1/schedules", object{"name": name, "cron": "@yearly", "job": object{"kind": "http", "tenant": "schedules", "max_attempts": 1, "args": args}, "alert": alert})
		c.must("POST", "/api/v1/schedules/"+name+"/trigger", object{})
		c.noteAnswer("operator", "POST", "/api/v1/schedules/"+name+"/test", object{})
		c.noteAnswer("operator", "PATCH", "/api/v1/schedules/"+name, object{"cron": "@monthly"})
		task := object{"name": "t" + name, "cron_expr": "0 0 1 1 *", "target_url": c.URL + explains, "headers_json": literal(object{"X-Hidden": "h", "X-Open": openMark}), "body_template": literal(object{"secret": secret}), "tenant": "schedules", "timeout_seconds": 1}
		c.must("POST", "/api/v1/tasks", task)
		c.must("POST", "/api/v1/tasks/t"+name+"/trigger", object{})
		c.known["/api/v1/schedules/"] = append(c.known["/api/v1/schedules/"], name, "t"+name)
		c.known["/api/v1/tasks/"] = append(c.known["/api/v1/tasks/"], "t"+name)
	}
}

// runExternal has a tenant's service fail and finish jobs with confidential values.
func (c *canaries) runExternal() {
	c.must("POST", "/api/v1/tenants", object{"name": "shop", "start_url": c.URL + answers, "fail_url": c.URL + hook + "/notice", "timeout_url": c.URL + hook + "/notice"})
	c.known["/api/v1/tenants/"] = append(c.known["/api/v1/tenants/"], "shop")
	for i, secret := range hostileSecrets {
		for _, end := range []string{"finish", "fail"} {
			c.enqueue(object{"kind": "external", "tenant": "shop", "max_attempts": 1, "args": object{"secret": secret, "note": twin(secret)}})
			id := c.jobs[len(c.jobs)-1]
			c.until("job "+id+" is waiting", func() bool { return c.must("GET", "/api/v1/jobs/"+id, nil)["state"] == "waiting" })
			said := allSpellings(secret) + allSpellings(twin(secret))
			answer := object{"output": object{"secret": "result " + secret, "said": said}}
			if end == "fail" {
				answer = object{"error": begins("declined: " + said), "final": i%2 == 0}
			}
			c.must("POST", "/api/v1/jobs/"+id+"/"+end, answer)
		}
	}
}

// sayWrong sends invalid requests with confidential values, which the log must not show.
func (c *canaries) sayWrong() {
	for _, secret := range hostileSecrets {
		for _, job := range []object{
			{"kind": "http", "args": object{"url": "://" + secret}},
			{"kind": "http", "args": object{"url": c.URL, "vars": secret}},
			{"kind": "http", "args": object{"url": c.URL, "body": "{{" + secret}},
			{"kind": "http", "args": object{"url": c.URL, secret: 1}},
			{"kind": "http", "args": object{"url": c.URL, "headers": object{"X": []string{secret}}}},
			{"kind": "http", "args": object{"url": c.URL, "vars": vars(secret)}, "timeout": secret},
		} {
			c.ask("POST", "/api/v1/jobs", object{"jobs": []object{job}})
		}
		c.ask("POST", "/api/v1/jobs", object{"jobs": secret})
		c.ask("GET", "/api/v1/jobs/"+url.PathEscape(secret), nil)
	}
}

// noteAnswer reads what the program answers to a caller of a role, which must succeed.
func (c *canaries) noteAnswer(role, verb, path string, body any) {
	c.Helper()
	if status := c.fetchAndNote(role, verb, path, body); status != http.StatusOK {
		c.Errorf("%s %s as %s: %d", verb, path, role, status)
	}
}

// fetchAndNote reads what the program answers to a caller of a role.
func (c *canaries) fetchAndNote(role, verb, path string, body any) (status int) {
	c.Helper()
	status, text := c.fetch(http.DefaultClient, role, verb, path, "application/json", literal(body))
	c.note("answers to "+verb, path+" as "+role, text)
	return status
}

// until waits for something.
func (c *canaries) until(what string, reached func() bool) {
	c.Helper()
	for begin := time.Now(); !reached(); <-time.After(20 * time.Millisecond) {
		if time.Since(begin) > patience.Limit {
			c.Fatalf("in vain: %s", what)
		}
	}
}

// settle waits until nothing changes any more, except for jobs that last.
func (c *canaries) settle() {
	c.Helper()
	c.until("all jobs have ended", func() bool {
		page := c.must("GET", "/api/v1/jobs?page_size=50&state=ready&state=running&state=parked&state=scheduled&state=waiting", nil)
		items, _ := page["items"].([]any)
		return !slices.ContainsFunc(items, func(job any) bool { return job.(object)["tenant"] != "lasting" })
	})
}

// listJobs lists all jobs, also those that schedules, batches and sweeps have made.
func (c *canaries) listJobs() {
	c.jobs = nil
	for token := ""; ; {
		page := c.must("GET", "/api/v1/jobs?page_size=100&page_token="+url.QueryEscape(token), nil)
		for _, item := range page["items"].([]any) {
			c.jobs = append(c.jobs, item.(object)["id"].(string))
		}
		if token, _ = page["next_page_token"].(string); token == "" {
			return
		}
	}
}
