package batch

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// Bounds of what a batch may say.
const (
	maxDescription = 2000
	maxThen        = 10
	maxText        = 200
	maxTaskParam   = 256 << 10 // bytes of before and of after
	maxTaskInfo    = 64 << 10  // bytes of Info, which every task carries
	maxTaskPeriod  = 24 * time.Hour
)

// Normalize validates a batch and fills in its defaults before it is stored. It returns an
// *InvalidError that names every invalid field.
func Normalize(b *Batch) error {
	var c complaints
	c.Name("name", b.Name, fairlead.MaxName)
	c.Name("type", b.Type, fairlead.MaxName/2)
	if b.Type == AnyType {
		c.Refuse("type", "is %q, which stands for all types; specify one type", b.Type)
	}
	if b.Queue == "" {
		b.Queue = fairlead.DefaultQueue
	}
	if b.Tenant == "" {
		b.Tenant = fairlead.DefaultTenant
	}
	c.Name("queue", b.Queue, fairlead.MaxName)
	c.Name("tenant", b.Tenant, fairlead.MaxName)
	for _, f := range []struct{ field, value string }{
		{"creator", b.Creator}, {"env", b.Env}, {"az", b.AZ}, {"service", b.Service}, {"description", b.Description},
	} {
		limit := maxText
		if f.field == "description" {
			limit = maxDescription
		}
		if len(f.value) > limit {
			c.Refuse(f.field, "has %d bytes; at most %d are allowed", len(f.value), limit)
		} else {
			c.Text(f.field, f.value)
		}
	}
	if len(b.Info) > maxTaskInfo {
		c.Refuse("info", "has %d bytes; at most %d are allowed", len(b.Info), maxTaskInfo)
	} else {
		c.JSON("info", b.Info, fairlead.MaxArgs)
	}
	if b.Priority < -fairlead.MaxPriority || b.Priority > fairlead.MaxPriority {
		c.Refuse("priority", "is %d; it must be between %d and %d", b.Priority, -fairlead.MaxPriority, fairlead.MaxPriority)
	}
	if b.Timeout < 0 || b.Timeout > maxTaskPeriod {
		c.Refuse("timeout", "is %v; it must be between 1ms and %v, or zero for the operation's default", b.Timeout, maxTaskPeriod)
	}
	b.checkPace(&c)
	c.URL("notify", b.Notify)
	if len(b.Then) > maxThen {
		c.Refuse("then", "has %d jobs; at most %d are allowed", len(b.Then), maxThen)
	}
	for i := range b.Then {
		job := &b.Then[i]
		adopt(&c, fmt.Sprintf("then[%d].", i), fairlead.NormalizeJobs([]*fairlead.Job{job}))
		if job.Key != "" || job.ConcurrencyKey != "" || !job.NotBefore.IsZero() {
			c.Refuse(fmt.Sprintf("then[%d]", i), "must not have a key, a concurrency key or a start time: the job is enqueued once, when the batch completes")
		}
	}
	b.Status = Status{}
	return fairlead.Invalid(c.Found...)
}

// checkPace checks how many tasks go at once.
func (b *Batch) checkPace(c *complaints) {
	c.Count("max_running", b.MaxRunning, fairlead.MaxCap)
	if math.IsNaN(b.Rate) || b.Rate < 0 || b.Rate > fairlead.MaxRate {
		c.Refuse("rate", "is %v; it must be between 0 (unlimited) and %v tasks per second", b.Rate, fairlead.MaxRate)
	}
	if b.Canary.Tasks < 0 || b.Canary.Tasks > MaxTasks {
		c.Refuse("canary.tasks", "is %d; it must be between 1 and %d, or zero for none", b.Canary.Tasks, MaxTasks)
	}
	if math.IsNaN(b.Canary.Ratio) || b.Canary.Ratio < 0 || b.Canary.Ratio > 1 {
		c.Refuse("canary.ratio", "is %v; it must be between 0 (manual approval) and 1", b.Canary.Ratio)
	}
	if b.Canary.Ratio > 0 && b.Canary.Tasks == 0 {
		c.Refuse("canary.ratio", "requires canary.tasks; set the number of tasks that run first")
	}
	c.Count("stop_after.failures", b.StopAfter.Failures, fairlead.MaxCap)
	if math.IsNaN(b.StopAfter.Percent) || b.StopAfter.Percent < 0 || b.StopAfter.Percent > 100 {
		c.Refuse("stop_after.percent", "is %v; it must be between 0 (no limit) and 100", b.StopAfter.Percent)
	}
}

// adopt takes over the fields of an *InvalidError under a prefix. Other errors are
// refusals of the prefix itself.
func adopt(c *complaints, prefix string, err error) {
	if err == nil {
		return
	}
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		c.Refuse(prefix, "%v", err)
		return
	}
	c.Adopt(prefix, invalid.Fields)
}

// NormalizeChange validates a change before it is stored. It returns an *InvalidError that
// names every invalid field.
func NormalizeChange(change *Change) error {
	var c complaints
	c.Name("target.id", change.Target.ID, fairlead.MaxName)
	c.Name("target.type", change.Target.Type, fairlead.MaxName/2-1)
	for _, f := range []struct{ field, value string }{{"target.name", change.Target.Name}, {"target.env", change.Target.Env}} {
		if f.value != "" {
			c.Name(f.field, f.value, fairlead.MaxName)
		}
	}
	for _, f := range []struct {
		field string
		value []byte
	}{{"before", change.Before}, {"after", change.After}} {
		if len(f.value) > maxTaskParam {
			c.Refuse(f.field, "has %d bytes; at most %d are allowed", len(f.value), maxTaskParam)
		} else {
			c.JSON(f.field, f.value, fairlead.MaxArgs)
		}
	}
	return fairlead.Invalid(c.Found...)
}

// checkTaskKind refuses tasks whose jobs would be of a reserved kind.
func (b *Batch) checkTaskKind(change *Change) error {
	kind := TaskKind(change.Target.Type, b.Type)
	if !reserved.Is(kind) && kind != reserved.Start {
		return nil
	}
	return fairlead.Invalid(fairlead.FieldError{Field: "target.type", Message: fmt.Sprintf(
		"gives tasks the kind %q in a batch of type %q, and that kind is reserved; choose another type", kind, b.Type)})
}
