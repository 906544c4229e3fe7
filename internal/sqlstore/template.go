package sqlstore

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// template is a job that has not been created yet. Its args are a string, because JSON
// would not preserve their bytes.
type template struct {
	Kind           string               `json:"kind"`
	Args           string               `json:"args,omitempty"`
	Queue          string               `json:"queue,omitempty"`
	Tenant         string               `json:"tenant,omitempty"`
	Priority       int                  `json:"priority,omitempty"`
	StartBy        int64                `json:"start_by,omitempty"`
	Timeout        time.Duration        `json:"timeout,omitempty"`
	MaxAttempts    int                  `json:"max_attempts,omitempty"`
	Retry          *fairlead.Retry      `json:"retry,omitempty"`
	OnCrash        fairlead.OnCrash     `json:"on_crash,omitempty"`
	OnFail         fairlead.OnFail      `json:"on_fail,omitempty"`
	Key            string               `json:"key,omitempty"`
	KeyScope       fairlead.KeyScope    `json:"key_scope,omitempty"`
	OnDuplicate    fairlead.OnDuplicate `json:"on_duplicate,omitempty"`
	ConcurrencyKey string               `json:"concurrency_key,omitempty"`
	Trace          string               `json:"trace,omitempty"`
}

func templateOf(job *fairlead.Job) template {
	return template{
		Kind: job.Kind, Args: string(job.Args), Queue: job.Queue, Tenant: job.Tenant, Priority: job.Priority,
		StartBy: Micros(job.StartBy), Timeout: job.Timeout, MaxAttempts: job.MaxAttempts, Retry: job.Retry, OnCrash: job.OnCrash, OnFail: job.OnFail,
		Key: job.Key, KeyScope: job.KeyScope, OnDuplicate: job.OnDuplicate, ConcurrencyKey: job.ConcurrencyKey, Trace: job.Trace,
	}
}

// job returns the job of a template. It reverses templateOf.
func (t *template) job() fairlead.Job {
	job := fairlead.Job{
		Kind: t.Kind, Queue: t.Queue, Tenant: t.Tenant, Priority: t.Priority, StartBy: Time(t.StartBy),
		Timeout: t.Timeout, MaxAttempts: t.MaxAttempts, Retry: t.Retry, OnCrash: t.OnCrash, OnFail: t.OnFail,
		Key: t.Key, KeyScope: t.KeyScope, OnDuplicate: t.OnDuplicate, ConcurrencyKey: t.ConcurrencyKey, Trace: t.Trace,
	}
	if t.Args != "" {
		job.Args = json.RawMessage(t.Args)
	}
	return job
}
