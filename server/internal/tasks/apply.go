package tasks

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// Values of task fields that are not policies.
const (
	statusEnabled  = "ENABLED"
	statusDisabled = "DISABLED"
	execSync       = "SYNC"
	execAsync      = "ASYNC"
)

// Default values.
const (
	defaultMethod          = "POST"
	defaultTimeout         = 15
	defaultCallbackTimeout = 3600
)

// withDefaults returns a task with all fields set.
func withDefaults(in *fairleadv1.Task) *fairleadv1.Task {
	out := proto.Clone(in).(*fairleadv1.Task)
	for _, text := range []**string{
		&out.Name, &out.Description, &out.CronExpr, &out.Timezone, &out.TargetUrl, &out.BodyTemplate, &out.Tenant, &out.HttpMethod,
		&out.ConcurrencyPolicy, &out.OverlapAction, &out.FailureAction, &out.CatchUpMode, &out.ExecType, &out.Status, &out.CallbackMethod,
	} {
		if *text == nil {
			*text = new(string)
		}
	}
	for _, number := range []**int32{&out.TimeoutSeconds, &out.MaxConcurrency, &out.CallbackTimeoutSec, &out.QueueDepth, &out.CatchUpLimit, &out.CatchUpWindowSec} {
		if *number == nil {
			*number = new(int32)
		}
	}
	for _, document := range []*[]byte{&out.HeadersJson, &out.RetryPolicyJson} {
		if len(*document) == 0 {
			*document = []byte("{}")
		}
	}
	return out
}

// apply sets the fields of a schedule from a task and leaves the others unchanged. An empty
// field stands for the default.
func apply(in *fairleadv1.Task, s *schedule.Schedule) error {
	var c complaints
	must := func(field string, value *string) {
		if value != nil && *value == "" {
			c.refuse(field, "is required")
		}
	}
	must("name", in.Name)
	must("cron_expr", in.CronExpr)
	must("target_url", in.TargetUrl)
	set(&s.Name, in.Name)
	set(&s.Description, in.Description)
	set(&s.Cron, in.CronExpr)
	set(&s.Zone, in.Timezone)
	set(&s.Job.Tenant, in.Tenant)
	choose(&s.Overlap, in.OverlapAction)
	choose(&s.AfterFailure, in.FailureAction)
	choose(&s.Concurrency, in.ConcurrencyPolicy)
	choose(&s.CatchUp, in.CatchUpMode)
	count(&s.MaxConcurrency, in.MaxConcurrency)
	count(&s.QueueDepth, in.QueueDepth)
	count(&s.CatchUpLimit, in.CatchUpLimit)
	if in.CatchUpWindowSec != nil {
		s.CatchUpWindow = time.Duration(in.GetCatchUpWindowSec()) * time.Second
	}
	if in.Status != nil {
		s.Disabled, s.Reason = in.GetStatus() == statusDisabled, ""
	}
	if len(in.GetRetryPolicyJson()) > 0 {
		applyRetry(&c, in.GetRetryPolicyJson(), &s.Job)
	}
	if err := applyCall(&c, in, &s.Job); err != nil {
		return err
	}
	return c.err()
}

// applyCall sets the args of a job from the call of a task.
func applyCall(c *complaints, in *fairleadv1.Task, job *fairlead.Job) error {
	call, err := callOf(job)
	if err != nil {
		return err
	}
	set(&call.URL, in.TargetUrl)
	if in.HttpMethod != nil {
		call.Method = strings.ToUpper(orDefault(in.GetHttpMethod(), defaultMethod))
	}
	if in.ExecType != nil {
		call.Async = in.GetExecType() == execAsync
	}
	if in.BodyTemplate != nil {
		call.Body = nil
		if text := in.GetBodyTemplate(); text != "" {
			if call.Body, err = json.Marshal(text); err != nil {
				return fmt.Errorf("body_template: %w", err)
			}
		}
	}
	if len(in.GetHeadersJson()) > 0 {
		call.Headers = nil
		readDocument(c, "headers_json", in.GetHeadersJson(), &call.Headers, "an object of strings")
	}
	if in.TimeoutSeconds != nil {
		call.TimeoutSeconds = float64(orDefault(in.GetTimeoutSeconds(), defaultTimeout))
	}
	if in.CallbackTimeoutSec != nil {
		call.CallbackTimeoutSeconds = float64(orDefault(in.GetCallbackTimeoutSec(), defaultCallbackTimeout))
	}
	if in.CallbackMethod != nil {
		call.CallbackMethod = in.GetCallbackMethod()
	}
	if !call.Async {
		call.CallbackTimeoutSeconds, call.CallbackMethod = 0, "" // the job does not wait
	}
	job.Args, err = json.Marshal(call)
	return err
}

// callOf returns the call that a job makes.
func callOf(job *fairlead.Job) (call httpcall.Call, err error) {
	if len(job.Args) == 0 {
		return call, nil
	}
	if err := json.Unmarshal(job.Args, &call); err != nil {
		return call, fmt.Errorf("the stored call cannot be read: %w", err)
	}
	return call, nil
}

func set(into, value *string) {
	if value != nil {
		*into = *value
	}
}

func count(into *int, value *int32) {
	if value != nil {
		*into = int(*value)
	}
}

// choose sets a policy, whose names are in capitals in tasks.
func choose[T ~string](into *T, value *string) {
	if value != nil {
		*into = T(strings.ToLower(*value))
	}
}

func orDefault[T comparable](value, standard T) T {
	var none T
	if value == none {
		return standard
	}
	return value
}
