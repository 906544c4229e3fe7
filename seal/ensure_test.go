package seal_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/seal"
)

func TestWhatAProgramEnsuresIsAuditedAndSealed(t *testing.T) {
	inner := sqlitetest.Open(t)
	defer inner.Close()
	store, ctx := seal.Wrap(inner, keys(t)), t.Context()
	client, schedules := fairlead.NewClient(store), schedule.NewClient(store)
	for _, most := range []int{1, 2} {
		if _, err := client.EnsureTenant(ctx, fairlead.Tenant{Name: "acme", MaxRunning: most}); err != nil {
			t.Fatal(err)
		}
		if _, err := schedules.Ensure(ctx, schedule.Schedule{Name: "s", Cron: "@yearly", Job: fairlead.Job{Kind: "a", Priority: most}}); err != nil {
			t.Fatal(err)
		}
	}
	for subject, after := range map[string]string{"tenant:acme": `{"max_running":"2"}`, "schedule:s": `{"job.priority":"2"}`} {
		stored, err := inner.AuditLog(ctx, access.Filter{Subject: subject, Actor: access.EnsureActor})
		if err != nil || len(stored) != 2 || !strings.Contains(string(stored[0].After), "$sealed") {
			t.Fatalf("%s: stored as %+v, %v", subject, stored, err)
		}
		opened, err := seal.WrapAccess(inner, keys(t)).AuditLog(ctx, access.Filter{Subject: subject})
		if err != nil || string(opened[0].After) != after {
			t.Errorf("%s: opened as %s, %v", subject, opened[0].After, err)
		}
	}
}
