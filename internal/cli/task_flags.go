package cli

import (
	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// taskFlags holds the flags of a task, named after the fields of the API.
type taskFlags struct {
	texts struct {
		description, cron, timezone, execType, method, url, body, concurrency, callback, overlap, failure, tenant, catchUp string
	}
	timeout, most, callbackTimeout, depth, catchUpLimit, catchUpWindow int32
	headers, retry                                                     string
}

func (t *taskFlags) register(cmd *cobra.Command, s *session) {
	f, x := cmd.Flags(), &t.texts
	f.StringVar(&x.description, "description", "", "description of the schedule (default: none)")
	f.StringVar(&x.cron, "cron-expr", "", "cron expression: 5 or 6 fields, or a macro such as @daily (required by create)")
	f.StringVar(&x.timezone, "timezone", "", "time zone of the cron expression, such as Europe/Paris (default \"UTC\")")
	f.StringVar(&x.execType, "exec-type", "", "source of the run's result: SYNC (the HTTP response) or ASYNC (a callback) (default \"SYNC\")")
	f.StringVar(&x.method, "http-method", "", "HTTP method of the call (default \"POST\")")
	f.StringVar(&x.url, "target-url", "", "URL to call (required by create)")
	f.StringVar(&t.headers, "headers-json", "", "request headers: a JSON object, @FILE, or - for standard input (default: none)")
	f.StringVar(&x.body, "body-template", "", "template of the request body, with placeholders such as {{run_id}} (default: no body)")
	f.Int32Var(&t.timeout, "timeout-seconds", 0, "timeout of the call, in seconds (default 15)")
	f.StringVar(&t.retry, "retry-policy-json", "", "retry policy for failed calls: a JSON object, @FILE, or - for standard input (default: none)")
	f.Int32Var(&t.most, "max-concurrency", 0, "maximum number of active runs (0 = unlimited)")
	f.StringVar(&x.concurrency, "concurrency-policy", "", "action for runs above --max-concurrency: QUEUE, SKIP or PARALLEL (default \"QUEUE\")")
	f.StringVar(&x.callback, "callback-method", "", "HTTP method of callbacks (default \"POST\")")
	f.Int32Var(&t.callbackTimeout, "callback-timeout-sec", 0, "maximum time that an ASYNC run waits for its callback, in seconds (default 3600)")
	f.StringVar(&x.overlap, "overlap-action", "", "action if an earlier run is still active: ALLOW, SKIP, CANCEL_PREV or PARALLEL (default \"ALLOW\")")
	f.StringVar(&x.failure, "failure-action", "", "action after a failed run: RUN_NEW, SKIP or RETRY (default \"RUN_NEW\")")
	f.StringVar(&x.tenant, "tenant", "", "tenant that owns the schedule (default \"default\")")
	f.Int32Var(&t.depth, "queue-depth", 0, "maximum number of queued runs (default 100)")
	f.StringVar(&x.catchUp, "catch-up-mode", "", "missed runs to start: NONE, COMPACT (only the latest) or FULL (default \"NONE\")")
	f.Int32Var(&t.catchUpLimit, "catch-up-limit", 0, "maximum number of missed runs to start (default 100)")
	f.Int32Var(&t.catchUpWindow, "catch-up-window-sec", 0, "maximum age of missed runs to start, in seconds (default 86400)")
	complete(cmd, "exec-type", oneOf("SYNC", "ASYNC"))
	complete(cmd, "concurrency-policy", oneOf("QUEUE", "SKIP", "PARALLEL"))
	complete(cmd, "overlap-action", oneOf("ALLOW", "SKIP", "CANCEL_PREV", "PARALLEL"))
	complete(cmd, "failure-action", oneOf("RUN_NEW", "SKIP", "RETRY"))
	complete(cmd, "catch-up-mode", oneOf("NONE", "COMPACT", "FULL"))
	complete(cmd, "tenant", s.asked(tenantNames))
}

// apply sets the fields of a task whose flags were given.
func (t *taskFlags) apply(cmd *cobra.Command, c *call, to *fairleadv1.Task) error {
	x := &t.texts
	said := &fairleadv1.Task{
		Description: &x.description, CronExpr: &x.cron, Timezone: &x.timezone, ExecType: &x.execType, HttpMethod: &x.method, TargetUrl: &x.url,
		BodyTemplate: &x.body, TimeoutSeconds: &t.timeout, MaxConcurrency: &t.most, ConcurrencyPolicy: &x.concurrency, CallbackMethod: &x.callback,
		CallbackTimeoutSec: &t.callbackTimeout, OverlapAction: &x.overlap, FailureAction: &x.failure, Tenant: &x.tenant, QueueDepth: &t.depth,
		CatchUpMode: &x.catchUp, CatchUpLimit: &t.catchUpLimit, CatchUpWindowSec: &t.catchUpWindow,
	}
	setGiven(cmd, said.ProtoReflect(), to.ProtoReflect())
	for _, document := range []struct {
		flag, text string
		into       *[]byte
	}{{"headers-json", t.headers, &to.HeadersJson}, {"retry-policy-json", t.retry, &to.RetryPolicyJson}} {
		if !cmd.Flags().Changed(document.flag) {
			continue
		}
		var err error
		if *document.into, err = readDocument("--"+document.flag, document.text, c.in); err != nil {
			return err
		}
	}
	return nil
}
