package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTenantsChangeOnlyWhatIsGiven(t *testing.T) {
	r := newRig(t)
	r.says([]string{"max running  3", "labels       a=b,c=d"}, "tenant", "create", "acme", "--max-running", "3", "--label", "a=b", "--label", "c=d", "--start-url", "https://example.com/")
	r.says([]string{"max running  3", "rate         2.5", "labels       c=d\n"}, "tenant", "update", "acme", "--rate", "2.5", "--label", "a=")
	r.says([]string{"max running", "start url"}, "tenant", "get", "acme")
	if tenant := r.document("tenant", "update", "acme", "--max-running", "0"); tenant["max_running"] != nil || tenant["rate"] != 2.5 {
		t.Errorf("the tenant is %v", tenant)
	}
	r.says([]string{"tenant acme paused"}, "tenant", "pause", "acme")
	r.says([]string{"acme", "yes"}, "tenant", "list")
	r.says([]string{"tenant acme resumed"}, "tenant", "resume", "acme")
	r.says([]string{"TENANT", "acme"}, "tenant", "stats", "acme")
	r.fails(ExitConflict, "already exists", "tenant", "create", "acme")
	r.fails(ExitUsage, "--max-running: ", "tenant", "update", "acme", "--max-running", "-1")
	r.says([]string{"tenant acme deleted"}, "tenant", "delete", "acme")
	r.fails(ExitNotFound, "not found", "tenant", "get", "acme")
	r.fails(ExitNotFound, "not found", "tenant", "update", "acme", "--rate", "1")
}

func TestQueuesNodesAndLimits(t *testing.T) {
	r := newRig(t)
	r.id("job", "enqueue", "noop", "--queue", "mail", "--not-before", "1h")
	r.says([]string{"queue mail paused"}, "queue", "pause", "mail")
	r.says([]string{"queue mail paused"}, "queue", "pause", "mail", "--reason", "storage migration")
	r.says([]string{"NAME", "mail", "yes", "storage migration"}, "queue", "list")
	r.says([]string{"queue mail resumed"}, "queue", "resume", "mail")
	r.typed(ExitOK, "job", "enqueue", "noop", "--wait") // the node has joined
	r.says([]string{"here", "alive", "(all)"}, "node", "list")
	r.says([]string{"here", "kinds", "noop"}, "node", "get", "here")
	r.fails(ExitNotFound, "", "node", "get", "4711")
	r.says([]string{"node 1 draining"}, "node", "drain", "here")
	r.says([]string{"draining"}, "node", "list")
	r.says([]string{"node 1 no longer draining"}, "node", "drain", "1", "--undo")
	r.fails(ExitNotFound, "no live node", "node", "drain", "elsewhere")
	r.says([]string{"max running  4"}, "limit", "set", "queue:mail", "--max-running", "4", "--rate", "10")
	r.says([]string{"queue:mail", "10"}, "limit", "list")
	r.says([]string{"limit of queue:mail removed"}, "limit", "remove", "queue:mail")
	r.fails(ExitUsage, "SCOPE: must be global", "limit", "set", "mail", "--rate", "1")
	r.fails(ExitUsage, "at least one of", "limit", "set", "global")
	r.says([]string{"all limits have correct counts"}, "verify")
	r.says([]string{"(all)", "default"}, "stats")
	if stats := r.document("stats"); stats["total"] == nil {
		t.Errorf("the stats are %v", stats)
	}
}

func TestAlertsAreSetListedAndRemoved(t *testing.T) {
	r := newRig(t)
	r.says([]string{"scope       kind:noop", "on          failed, backlog", "backlog     5m"}, "alert", "set", "mail", "--scope", "kind:noop", "--url", "https://example.com/", "--on", "failed,backlog", "--backlog", "5m",
		"--header", "X-Team=web", "--body", "{{args.count}} failed")
	if alert := r.document("alert", "get", "mail"); alert["body"] != "{{args.count}} failed" || alert["quiet"] != "60s" {
		t.Errorf("the alert is %v", alert)
	}
	r.says([]string{"NAME", "mail", "kind:noop", "failed,backlog", "5m0s"}, "alert", "list")
	r.fails(ExitConflict, "a different scope", "alert", "set", "mail", "--url", "https://example.com/")
	r.fails(ExitUsage, "--url", "alert", "set", "other")
	r.fails(ExitUsage, "NAME=VALUE", "alert", "set", "other", "--url", "https://example.com/", "--header", "x")
	r.fails(ExitUsage, "set it to the waiting time at which the oldest ready job triggers the alert", "alert", "set", "other", "--url", "https://example.com/", "--on", "backlog")
	r.says([]string{"alert mail removed"}, "alert", "remove", "mail")
	r.fails(ExitNotFound, "not found", "alert", "remove", "mail")
}

func TestTopOnceIsPlain(t *testing.T) {
	r := newRig(t)
	r.typed(ExitJobFailed, "job", "enqueue", "broken", "--wait")
	out := r.says([]string{"QUEUE", "TENANT", "NODE", "here", "FAILED JOB", "it is broken"}, "top", "--once")
	if strings.Contains(out, "\x1b") {
		t.Errorf("there are control characters in %q", out)
	}
	r.fails(ExitUsage, "--every", "top", "--every", "1ms")
}

func TestAServerThatIsNotThere(t *testing.T) {
	alone(t)
	web := httptest.NewServer(nil)
	url := web.URL
	web.Close()
	for _, args := range []string{"job list", "job enqueue noop --wait", "job watch 1", "top", "token list", "verify"} {
		_, stderr, code := run(t.Context(), nil, append(strings.Fields(args), "--server", url)...)
		if code != ExitUnavailable || !strings.Contains(stderr, "cannot reach "+url) || !strings.Contains(stderr, "fairlead serve") {
			t.Errorf("%s: exit %d, %s", args, code, stderr)
		}
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	alone(t)
	done := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer web.Close()
	defer close(done)
	_, stderr, code := run(t.Context(), nil, "job", "list", "--server", web.URL, "--timeout", "50ms")
	if code != ExitUnavailable || !strings.Contains(stderr, "did not answer within 50ms; use --timeout") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

func TestMistakesAreToldInOneLine(t *testing.T) {
	r := newRig(t)
	r.fails(ExitUsage, `has no command "explode": use attempts, bulk`, "job", "explode")
	r.fails(ExitUsage, "needs ID", "job", "get")
	r.fails(ExitUsage, `takes no argument "2"`, "job", "get", "1", "2")
	r.fails(ExitUsage, `ID "one"`, "job", "get", "one")
	r.fails(ExitUsage, "needs KIND or --file", "job", "enqueue")
	r.fails(ExitUsage, "--priority: is 99999", "job", "enqueue", "noop", "--priority", "99999")
	r.fails(ExitUsage, "use a timestamp such as", "job", "enqueue", "noop", "--not-before", "soon")
	r.fails(ExitUsage, "--output \"xml\"", "job", "list", "-o", "xml")
	r.fails(ExitUsage, "--state", "job", "list", "--state", "asleep")
	r.fails(ExitNotFound, "job 77", "job", "get", "77")
	r.fails(ExitNotFound, "job 77", "job", "watch", "77")
	if ExitCode(errors.New("x")) != ExitFailure || ExitCode(nil) != ExitOK {
		t.Error("an error is a failure, and none is none")
	}
}

func TestWhatIsConfidentialIsSetShownMaskedAndRevealed(t *testing.T) {
	r := newRig(t)
	r.fails(ExitUsage, "specify the confidential fields", "kind", "set", "noop")
	r.fails(ExitUsage, `contains "card"; a path must begin with one of args`, "kind", "set", "noop", "--confidential", "card")
	r.says([]string{"confidential fields of kind noop: args.card"}, "kind", "set", "noop", "--confidential", "args.card")
	r.says([]string{"noop", "args.card"}, "kind", "list")
	id := r.id("job", "enqueue", "noop", "--args", `{"card":"4111222"}`)
	r.says([]string{`"card":"***"`}, "job", "get", id)
	r.says([]string{`"card":"4111222"`}, "job", "get", id, "--reveal")
	r.says([]string{"RevealJob", "job:" + id}, "audit", "list")
	r.says([]string{"kind noop has no confidential fields"}, "kind", "set", "noop", "--confidential", "")
	r.says([]string{`"card":"4111222"`}, "job", "get", id)
}
