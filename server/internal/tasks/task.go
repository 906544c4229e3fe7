package tasks

import (
	"encoding/json"
	"math"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
)

// taskOf converts a schedule to a task.
func taskOf(s *schedule.Schedule) (*fairleadv1.Task, error) {
	call, err := callOf(&s.Job)
	if err != nil {
		return nil, err
	}
	status, exec := statusDisabled, execSync
	if !s.Disabled {
		status = statusEnabled
	}
	if call.Async {
		exec = execAsync
	}
	method, body := orDefault(strings.ToUpper(call.Method), defaultMethod), bodyText(call.Body)
	task := &fairleadv1.Task{
		Id: s.ID, Name: &s.Name, Description: &s.Description, CronExpr: &s.Cron, Timezone: &s.Zone, Tenant: &s.Job.Tenant, Status: &status,
		ExecType: &exec, HttpMethod: &method, TargetUrl: &call.URL, BodyTemplate: &body,
		TimeoutSeconds: number(orDefault(call.TimeoutSeconds, orDefault(s.Job.Timeout.Seconds(), defaultTimeout))),
		MaxConcurrency: number(float64(s.MaxConcurrency)), ConcurrencyPolicy: word(s.Concurrency),
		CallbackMethod: word(orDefault(call.CallbackMethod, defaultMethod)), CallbackTimeoutSec: number(orDefault(call.CallbackTimeoutSeconds, defaultCallbackTimeout)),
		OverlapAction: word(s.Overlap), FailureAction: word(s.AfterFailure), QueueDepth: number(float64(s.QueueDepth)),
		CatchUpMode: word(s.CatchUp), CatchUpLimit: number(float64(s.CatchUpLimit)), CatchUpWindowSec: number(s.CatchUpWindow.Seconds()),
		Version: s.Version, CreatedAt: message.Time(s.CreatedAt), UpdatedAt: message.Time(s.UpdatedAt),
	}
	if !s.Disabled {
		task.NextTime = message.Time(s.Due)
	}
	if call.Headers == nil {
		call.Headers = map[string]string{}
	}
	if task.HeadersJson, err = textDocument(call.Headers); err != nil {
		return nil, err
	}
	if policy := policyOf(&s.Job); policy != nil {
		task.RetryPolicyJson, err = textDocument(policy)
	}
	return task, err
}

// bodyText returns a body before placeholders are filled in.
func bodyText(body json.RawMessage) string {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return text
	}
	return string(body)
}

// word returns a policy in the form used by tasks, in capitals.
func word[T ~string](value T) *string {
	text := strings.ToUpper(string(value))
	return &text
}

// number returns a whole number, rounded up so that a fraction of a second does not become
// 0.
func number(n float64) *int32 {
	whole := int32(min(math.Ceil(n), math.MaxInt32))
	return &whole
}
