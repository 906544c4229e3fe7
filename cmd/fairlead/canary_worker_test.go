package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// remote is a worker without access to the database, in another language.
type remote struct {
	*canaries
	path    string
	session any
	served  map[string]int // jobs by kind
}

// kindsOfWorker are the kinds of the worker: a plain one, the operation of batches on walls, and the
// items of sweeps.
var kindsOfWorker = []string{"pay", "wall.paint", "sweep.greet"}

func (c *canaries) join() *remote {
	c.Helper()
	w := &remote{canaries: c, path: "/api/v1/workers", served: map[string]int{}}
	joined := w.call("", object{"name": "bob", "kinds": kindsOfWorker, "slots": 50, "lease": "1m"})
	w.session = joined["session"]
	w.path += "/" + joined["id"].(string)
	return w
}

// call sends a request of the worker's.
func (w *remote) call(verb string, body object) (answer object) {
	w.Helper()
	if w.session != nil {
		body["session"] = w.session
	}
	status, text := w.fetch(http.DefaultClient, "worker", "POST", w.path+verb, "application/json", literal(body))
	if err := decode(strings.NewReader(text), &answer); err != nil || status != http.StatusOK {
		w.Fatalf("the worker's %s: %d %s (%v)", verb, status, text, err)
	}
	return answer
}

// serve runs jobs until it has served a number of jobs of a kind.
func (w *remote) serve(kind string, count int) {
	w.Helper()
	w.until(fmt.Sprintf("the worker has served %d %s", count, kind), func() bool {
		jobs, _ := w.call("/lease", object{"wait": "1s"})["jobs"].([]any)
		for _, leased := range jobs {
			w.run(leased.(object))
		}
		return w.served[kind] >= count
	})
}

// run settles a job. The job gets its confidential values as they are, and says all of them in
// its progress, its memo and its result, in every spelling.
func (w *remote) run(job object) {
	kind := job["kind"].(string)
	w.served[kind]++
	raw := literal(job["args"])
	if kind != "sweep.greet" && !strings.Contains(raw, secretMark) {
		w.Errorf("the worker got no confidential value: %s", raw)
	}
	settlement := object{"id": job["id"], "fence": job["fence"], "outcome": "succeed"}
	var secrets []string
	visit(job["args"], func(name, value string) {
		if strings.Contains(value, secretMark) && (name == "secret" || name == "name") {
			secrets = append(secrets, value)
		}
	})
	said := ""
	for _, secret := range secrets {
		said += allSpellings(secret) + allSpellings(twin(secret))
	}
	switch {
	case kind == "sweep.greet":
		settlement["outcome"], settlement["error"] = "fatal", begins("items failed: "+said)
	case len(secrets) == 0:
		w.Errorf("a job has no confidential value: %s", raw)
		return
	default:
		w.call("/progress", object{"job": job["id"], "fence": job["fence"], "progress": object{"secret": "progress " + secrets[0], "said": said}, "memo": object{"secret": "memo " + secrets[0], "said": said}})
		if w.served[kind]%3 != 0 {
			settlement["outcome"], settlement["error"] = "fatal", begins("declined: "+said)
		} else {
			settlement["output"] = object{"secret": "output " + secrets[0], "note": twin(secrets[0]), "said": said}
		}
	}
	w.call("/settle", object{"settlements": []object{settlement}})
}

// visit calls see with every string in a document, and with the name of its member.
func visit(value any, see func(name, value string)) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			visit(element, see)
		}
	case object:
		for name, member := range value {
			if text, ok := member.(string); ok {
				see(name, text)
			}
			visit(member, see)
		}
	}
}

// runWorker has a worker fail and finish jobs, tasks of batches and a sweep.
func (c *canaries) runWorker() {
	w := c.join()
	for _, secret := range hostileSecrets {
		for range 3 {
			c.enqueue(object{"kind": "pay", "tenant": "work", "max_attempts": 1, "args": object{"secret": secret, "note": twin(secret)}})
		}
	}
	w.serve("pay", 3*len(hostileSecrets))
	c.runBatches()
	w.serve("wall.paint", 2*3*len(hostileSecrets))
	c.runSweeps()
	w.serve("sweep.greet", 1)
}

// runBatches creates batches, one of them in the older API, whose tasks the worker runs.
func (c *canaries) runBatches() {
	for i, secret := range hostileSecrets {
		state := object{"secret": secret, "note": twin(secret)}
		about := object{"secret": secret}
		var tasks, older []object
		for j := range 3 {
			tasks = append(tasks, object{"target": object{"id": fmt.Sprint(j), "type": "wall", "name": fmt.Sprintf("magpie-name-%d", i)}, "before": state, "after": state})
			older = append(older, object{"target_id": j, "target_type": "wall", "target_name": "wall", "target_param": object{"before_update": state, "after_update": state}})
		}
		batch := c.must("POST", "/api/v1/batches", object{"name": fmt.Sprintf("b%d", i), "type": "paint", "tenant": "work", "info": about, "tasks": tasks, "notify": c.URL + hook + "/batch",
			"then": []object{{"job": object{"kind": "noop", "tenant": "work", "args": state}}}})
		old := c.must("POST", "/api/batch", object{"batch_name": fmt.Sprintf("o%d", i), "batch_type": "paint", "tenant": "work", "extra_info": about, "tasks": older})
		for _, id := range []any{batch["id"], old["batch_id"]} {
			c.known["/api/v1/batches/"] = append(c.known["/api/v1/batches/"], fmt.Sprint(id))
			c.known["/api/batch/"] = append(c.known["/api/batch/"], fmt.Sprint(id))
		}
	}
}

// runSweeps starts a sweep of calls and one of the worker's.
func (c *canaries) runSweeps() {
	for i, secret := range hostileSecrets {
		name := fmt.Sprintf("w%d", i)
		args := object{"url": c.URL + []string{explains, garbles, refuses}[i%3] + "?q=" + secretHere + "&n=" + openHere, "headers": object{"X-Hidden": "h"}, "body": object{"secret": secret, "note": twin(secret)}, "vars": vars(secret)}
		c.must("POST", sweepsPath, object{"name": name, "tenant": "work", "kind": "http", "to": 2, "attempts": 1, "timeout": "1s", "args": args, "gate": object{"before_run": c.URL + answers}})
		c.must("POST", sweepsPath+"/"+name+"/start", object{})
		c.known[sweepsPath+"/"] = append(c.known[sweepsPath+"/"], name)
	}
	secret := hostileSecrets[0]
	c.must("POST", sweepsPath, object{"name": "greetings", "tenant": "work", "kind": "greet", "to": 2, "args": object{"secret": secret, "note": twin(secret)}})
	c.must("POST", sweepsPath+"/greetings/start", object{})
	c.known[sweepsPath+"/"] = append(c.known[sweepsPath+"/"], "greetings")
}

// runAlerts sets alerts for the jobs of tenants. If bodies is set, it also sets alerts with a
// confidential value in the body.
func (c *canaries) runAlerts(bodies bool, tenants ...string) {
	for i, tenant := range tenants {
		name := "a" + tenant
		secret := hostileSecrets[i]
		c.must("PUT", "/api/v1/alerts/"+name, object{"scope": "tenant:" + tenant, "url": c.URL + hook + "/alert", "gather": "1ms", "quiet": "1ms"})
		c.known["/api/v1/alerts/"] = append(c.known["/api/v1/alerts/"], name)
		if !bodies {
			continue
		}
		c.must("PUT", "/api/v1/alerts/full-"+name, object{"scope": "tenant:" + tenant, "url": c.URL + hook + "/target", "gather": "1ms", "headers": object{"X-Hidden": "h"}, "body": object{"secret": secret, "note": twin(secret)}})
		c.known["/api/v1/alerts/"] = append(c.known["/api/v1/alerts/"], "full-"+name)
	}
}

// runBulk retries failed jobs: some of them may not be.
func (c *canaries) runBulk() {
	bulk := c.must("POST", "/api/v1/bulks", object{"action": "retry", "filter": object{"tenant": []string{"work"}, "state": []string{"failed"}}, "reason": "again"})
	c.known["/api/v1/bulks/"] = append(c.known["/api/v1/bulks/"], fmt.Sprint(bulk["id"]))
}

// fetch sends a request of a caller with a role and reads the answer.
func (c *canaries) fetch(client *http.Client, role, verb, path, kind, body string) (status int, text string) {
	c.Helper()
	at := path
	if strings.HasPrefix(path, "/") {
		at = c.node.url + path
	}
	request, err := http.NewRequestWithContext(c.Context(), verb, at, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", kind)
	}
	request.Header.Set("Authorization", "Bearer "+c.tokens[role])
	request.AddCookie(&http.Cookie{Name: "fairlead_session", Value: c.tokens[role]})
	response, err := client.Do(request)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); got == "text/event-stream" || strings.HasPrefix(got, "application/connect+") || strings.HasPrefix(got, "application/grpc") {
		return response.StatusCode, firstOf(got, response.Body)
	}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return response.StatusCode, string(raw) + fmt.Sprint("\n", response.Header)
}
