package starts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func TestStartsAreCountedByTenantUntilTheyAreTaken(t *testing.T) {
	created := time.Unix(1000, 0)
	job := func(tenant string, notBefore, startBy, started time.Duration) *fairlead.Job {
		j := &fairlead.Job{Tenant: tenant, NotBefore: created.Add(notBefore), StartBy: created.Add(startBy)}
		j.CreatedAt, j.StartedAt = created, created.Add(started)
		return j
	}
	counter := New()
	counter.Add([]*fairlead.Job{
		job("late", 0, time.Second, 2*time.Second),
		job("late", 0, 3*time.Second, 2*time.Second),
		job("scheduled", time.Hour, time.Hour+time.Second, time.Hour+2*time.Second),
		job("at once", 0, 0, time.Hour),
		job("at once", time.Minute, time.Minute, time.Hour),
	})
	want := []driver.Starts{{Tenant: "at once", Count: 2}, {Tenant: "late", Count: 2, Missed: 1}, {Tenant: "scheduled", Count: 1, Missed: 1}}
	byTenant := cmpopts.SortSlices(func(a, b driver.Starts) bool { return a.Tenant < b.Tenant })
	taken := counter.Take()
	if diff := cmp.Diff(want, taken, byTenant); diff != "" {
		t.Errorf("what was started differs (-want +got):\n%s", diff)
	}
	if again := counter.Take(); len(again) > 0 {
		t.Errorf("it is counted twice: %v", again)
	}
	counter.GiveBack(taken)
	if diff := cmp.Diff(want, counter.Take(), byTenant); diff != "" {
		t.Errorf("what was given back differs (-want +got):\n%s", diff)
	}
}
