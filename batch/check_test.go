package batch_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// onlyField reports whether an error is about one field and no other.
func onlyField(err error, field string) bool {
	var invalid *fairlead.InvalidError
	return errors.As(err, &invalid) && len(invalid.Fields) == 1 && invalid.Fields[0].Field == field
}

// quoted is a JSON text of so many bytes.
func quoted(n int) []byte { return []byte(`"` + strings.Repeat("x", n-2) + `"`) }

func TestABatchNamesTheFieldThatIsWrong(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	for field, changes := range map[string][]func(b *batch.Batch){
		"name":        {func(b *batch.Batch) { b.Name = "" }, func(b *batch.Batch) { b.Name = long(fairlead.MaxName) }},
		"type":        {func(b *batch.Batch) { b.Type = "" }, func(b *batch.Batch) { b.Type = long(fairlead.MaxName / 2) }},
		"queue":       {func(b *batch.Batch) { b.Queue = "\xff" }},
		"tenant":      {func(b *batch.Batch) { b.Tenant = "\x00" }},
		"creator":     {func(b *batch.Batch) { b.Creator = long(200) }, func(b *batch.Batch) { b.Creator = "\xff" }},
		"env":         {func(b *batch.Batch) { b.Env = long(200) }},
		"az":          {func(b *batch.Batch) { b.AZ = long(200) }},
		"service":     {func(b *batch.Batch) { b.Service = long(200) }},
		"description": {func(b *batch.Batch) { b.Description = long(2000) }, func(b *batch.Batch) { b.Description = "\x00" }},
		"info":        {func(b *batch.Batch) { b.Info = []byte("{") }, func(b *batch.Batch) { b.Info = quoted(64<<10 + 1) }},
		"priority":    {func(b *batch.Batch) { b.Priority = fairlead.MaxPriority + 1 }, func(b *batch.Batch) { b.Priority = -fairlead.MaxPriority - 1 }},
		"timeout":     {func(b *batch.Batch) { b.Timeout = -1 }, func(b *batch.Batch) { b.Timeout = 24*time.Hour + 1 }},
		"max_running": {func(b *batch.Batch) { b.MaxRunning = -1 }, func(b *batch.Batch) { b.MaxRunning = fairlead.MaxCap + 1 }},
		"rate": {
			func(b *batch.Batch) { b.Rate = math.NaN() }, func(b *batch.Batch) { b.Rate = -0.1 },
			func(b *batch.Batch) { b.Rate = math.Nextafter(fairlead.MaxRate, math.Inf(1)) },
		},
		"canary.tasks": {func(b *batch.Batch) { b.Canary.Tasks = -1 }, func(b *batch.Batch) { b.Canary.Tasks = batch.MaxTasks + 1 }},
		"canary.ratio": {
			func(b *batch.Batch) { b.Canary = batch.Canary{Tasks: 1, Ratio: math.NaN()} }, func(b *batch.Batch) { b.Canary = batch.Canary{Tasks: 1, Ratio: -0.1} },
			func(b *batch.Batch) { b.Canary = batch.Canary{Tasks: 1, Ratio: 1.1} }, func(b *batch.Batch) { b.Canary.Ratio = 0.5 },
		},
		"stop_after.failures": {func(b *batch.Batch) { b.StopAfter.Failures = -1 }},
		"stop_after.percent": {
			func(b *batch.Batch) { b.StopAfter.Percent = math.NaN() }, func(b *batch.Batch) { b.StopAfter.Percent = -1 },
			func(b *batch.Batch) { b.StopAfter.Percent = 100.1 },
		},
		"notify": {func(b *batch.Batch) { b.Notify = "ftp://there" }},
		"then":   {func(b *batch.Batch) { b.Then = jobsOf(11) }},
		"then[1]": {
			func(b *batch.Batch) { b.Then = jobsOf(2); b.Then[1].Key = "k" }, func(b *batch.Batch) { b.Then = jobsOf(2); b.Then[1].ConcurrencyKey = "k" },
			func(b *batch.Batch) {
				b.Then = jobsOf(2)
				b.Then[1].NotBefore = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			},
		},
		"then[1].kind": {func(b *batch.Batch) { b.Then = jobsOf(2); b.Then[1].Kind = "" }},
	} {
		for i, change := range changes {
			b := batch.Batch{Name: "b", Type: "move"}
			change(&b)
			if err := batch.Normalize(&b); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
}

func jobsOf(n int) []fairlead.Job {
	jobs := make([]fairlead.Job, n)
	for i := range jobs {
		jobs[i].Kind = "k"
	}
	return jobs
}

func TestTheBoundsOfABatchAreAccepted(t *testing.T) {
	most := func(n int) string { return strings.Repeat("x", n) }
	for name, b := range map[string]batch.Batch{
		"the least": {Name: "b", Type: "t", Priority: -fairlead.MaxPriority, Timeout: 1, MaxRunning: 1, Canary: batch.Canary{Tasks: 1}},
		"the most": {
			Name: most(fairlead.MaxName), Type: most(fairlead.MaxName / 2), Queue: most(fairlead.MaxName), Tenant: most(fairlead.MaxName),
			Creator: most(200), Env: most(200), AZ: most(200), Service: most(200), Description: most(2000), Info: quoted(64 << 10),
			Priority: fairlead.MaxPriority, Timeout: 24 * time.Hour, MaxRunning: fairlead.MaxCap, Rate: fairlead.MaxRate,
			Canary: batch.Canary{Tasks: batch.MaxTasks, Ratio: 1}, StopAfter: batch.Threshold{Failures: fairlead.MaxCap, Percent: 100},
			Notify: "https://there", Then: jobsOf(10),
		},
	} {
		if err := batch.Normalize(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := batch.Batch{Name: "b", Type: "t", Then: jobsOf(1), Status: batch.Status{Completions: 7}}
	if err := batch.Normalize(&b); err != nil || b.Queue != fairlead.DefaultQueue || b.Tenant != fairlead.DefaultTenant || b.Then[0].Queue != fairlead.DefaultQueue {
		t.Errorf("without a queue and a tenant it is %+v: %v", b, err)
	}
	if b.Completions != 0 {
		t.Error("a batch that is about to be stored has completed")
	}
}

func TestATaskNamesTheFieldThatIsWrong(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	for field, changes := range map[string][]func(c *batch.Change){
		"target.id":   {func(c *batch.Change) { c.Target.ID = "" }, func(c *batch.Change) { c.Target.ID = long(fairlead.MaxName) }},
		"target.type": {func(c *batch.Change) { c.Target.Type = "" }, func(c *batch.Change) { c.Target.Type = long(fairlead.MaxName/2 - 1) }},
		"target.name": {func(c *batch.Change) { c.Target.Name = long(fairlead.MaxName) }, func(c *batch.Change) { c.Target.Name = "\xff" }},
		"target.env":  {func(c *batch.Change) { c.Target.Env = long(fairlead.MaxName) }},
		"before":      {func(c *batch.Change) { c.Before = []byte("{") }, func(c *batch.Change) { c.Before = quoted(256<<10 + 1) }},
		"after":       {func(c *batch.Change) { c.After = []byte("{") }, func(c *batch.Change) { c.After = quoted(256<<10 + 1) }},
	} {
		for i, change := range changes {
			c := boxes(1)[0]
			change(&c)
			if err := batch.NormalizeChange(&c); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
	most := func(n int) string { return strings.Repeat("x", n) }
	fine := batch.Change{
		Target: batch.Target{ID: most(fairlead.MaxName), Type: most(fairlead.MaxName/2 - 1), Name: most(fairlead.MaxName), Env: most(fairlead.MaxName)},
		Before: quoted(256 << 10), After: quoted(256 << 10),
	}
	if err := batch.NormalizeChange(&fine); err != nil {
		t.Error(err)
	}
}
