package console

import (
	"encoding/json"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// job reads the job of each run.
func (f *scheduleFields) job(job *fairleadv1.NewJob) {
	f.args(job)
	f.set("tenant", func(name string) { job.Tenant = f.text(name) })
	f.set("queue", func(name string) { job.Queue = f.text(name) })
	f.set("priority", func(name string) { job.Priority = f.integer(name) })
	f.set("timeout", func(name string) { job.Timeout = f.span(name) })
	f.set("max_attempts", func(name string) { job.MaxAttempts = f.integer(name) })
	f.set("key", func(name string) { job.Key = f.text(name) })
	f.set("concurrency_key", func(name string) { job.ConcurrencyKey = f.text(name) })
	f.set("on_crash", func(name string) { job.OnCrash = f.text(name) })
	f.set("on_fail", func(name string) { job.OnFail = f.text(name) })
	f.set("retry_base", func(name string) { retryOf(job).Base = f.span(name) })
	f.set("retry_max", func(name string) { retryOf(job).Max = f.span(name) })
	f.set("retry_factor", func(name string) { retryOf(job).Factor = f.decimal(name) })
	if retry := job.GetRetry(); retry.GetBase() == nil && retry.GetMax() == nil && retry.GetFactor() == 0 && !retry.GetPrecise() {
		job.Retry = nil // handler default
	}
}

// retryOf returns the retry policy of a job, and creates it if necessary.
func retryOf(job *fairleadv1.NewJob) *fairleadv1.Retry {
	if job.GetRetry() == nil {
		job.Retry = &fairleadv1.Retry{}
	}
	return job.GetRetry()
}

// args reads the kind and the args: from the fields of a call, or as a document.
func (f *scheduleFields) args(job *fairleadv1.NewJob) {
	if f.choice("work", "call", "kind") == "call" {
		f.call(job)
		return
	}
	f.set("kind", func(name string) { job.Kind = f.text(name) })
	if f.stored && !f.edited("args") {
		return
	}
	typed, whole := restoreUserinfo([]byte(f.text("args")), job.GetArgs())
	switch {
	case len(typed) > 0 && !json.Valid(typed):
		f.refuse("args", f.v.T("must be a JSON document"))
	case !whole:
		f.refuse("args", f.v.T("contain *** instead of the user name and password of another URL; replace it with the actual values"))
	}
	job.Args = typed
}
