package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// No surface shows a confidential URL or a part of it, in whatever way a call to it ends.
func TestNoSurfaceShowsAConfidentialAddress(t *testing.T) {
	tier.Long(t, "runs many calls and reads every page about them")
	t.Parallel()
	c := newCanaries(t, map[string][]string{"http": {"args.url", "args.headers.X-Hidden"}, "sweep.http": {"args.url"}}, "--target-max-failures", "3")
	c.runAlerts(false, "calls", "schedules", "work")
	c.must("POST", "/api/v1/tenants", object{"name": "shop"})
	c.known["/api/v1/tenants/"] = []string{"shop"}
	for _, list := range []string{"/api/v1/batches/", "/api/batch/", "/api/v1/bulks/"} { // only a worker creates these
		c.known[list] = nil
	}
	here := strings.TrimPrefix(c.URL, "http://")
	for i, address := range []string{
		c.URL + answers + "/magpie-path?q=magpie-query&n=1&token=magpie-token", "http://magpie-user:magpie-pass@" + here + answers + "/magpie%20path%2Fx?magpie=magpie%22&b=magpie+c",
		"HTTP://" + here + refuses + "/magpie%20path/magpie-{{run_id}}?q={{args.note}}&s=magpie", c.URL + refuses + "/magpie-münchen", c.URL + garbles + "/magpie?q=magpie-x+magpie-y",
		c.URL + redirects + "/magpie-path?q=magpie", c.URL + explains + "/magpie?q=magpie%0Amagpie", c.URL + hangs + "/magpie", c.URL + breaksOff + "/magpie", c.URL + accepts + "/magpie",
		"http://127.0.0.1:1/magpie-path?q=magpie", "http://magpie-host.invalid/magpie", "http://magpie-host.invalid:8080/x", "https://" + here + "/magpie-secure", "http://169.254.1.1/magpie-denied",
	} {
		args := object{"url": address, "vars": object{"note": twin(secretMark)}, "timeout_seconds": 1}
		for range 4 { // enough failures to open a breaker
			c.enqueue(object{"kind": "http", "tenant": "calls", "max_attempts": 1, "args": args})
		}
		name := fmt.Sprintf("s%d", i)
		c.must("POST", "/api/v1/schedules", object{"name": name, "cron": "@yearly", "job": object{"kind": "http", "tenant": "schedules", "max_attempts": 1, "args": args}, "alert": object{"url": c.URL + hook + "/schedule?magpie", "on": []string{"failure"}}})
		c.must("POST", "/api/v1/schedules/"+name+"/trigger", object{})
		c.fetchAndNote("operator", "POST", "/api/v1/schedules/"+name+"/test", object{})
		task := object{"name": "t" + name, "cron_expr": "0 0 1 1 *", "target_url": strings.ReplaceAll(address, "{{args.note}}", "x"), "tenant": "schedules", "timeout_seconds": 1}
		c.must("POST", "/api/v1/tasks", task)
		c.must("POST", "/api/v1/tasks/t"+name+"/trigger", object{})
		c.must("POST", sweepsPath, object{"name": name, "tenant": "work", "kind": "http", "to": 2, "attempts": 1, "timeout": "1s", "args": args})
		c.must("POST", sweepsPath+"/"+name+"/start", object{})
		c.known["/api/v1/schedules/"] = append(c.known["/api/v1/schedules/"], name, "t"+name)
		c.known["/api/v1/tasks/"] = append(c.known["/api/v1/tasks/"], "t"+name)
		c.known[sweepsPath+"/"] = append(c.known[sweepsPath+"/"], name)
	}
	c.until("a breaker is open", func() bool { return c.must("GET", "/api/v1/breakers", nil)["items"] != nil })
	c.readAll()
	c.wantOpen("REST /api/v1/jobs", "REST /api/v1/jobs/{id}", "REST /api/v1/schedules/{id}", "REST /api/v1/sweeps/{id}", "Connect GetJob", "gRPC GetJob", "console jobs", "command job get", "command export")
}
