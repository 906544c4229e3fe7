package scope

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

func TestACallerWhoIsBoundDoesNotLearnFromAnExplanationWhatOthersRun(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	node, err := store.Join(t.Context(), fairlead.Node{Name: "alpha", Kinds: []string{"secret", "noop"}, Slots: 1}, time.Hour)
	must(err)
	jobs := []*fairlead.Job{{Kind: "secret", Tenant: "zeta"}, {Kind: "noop", Tenant: "acme"}}
	running, waiting := jobs[1], &fairlead.Job{Kind: "noop", Tenant: "acme"}
	client := fairlead.NewClient(store)
	must(client.Enqueue(t.Context(), jobs...))
	_, err = store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"secret", "noop"}}, Max: 2})
	must(err)
	must(client.Enqueue(t.Context(), waiting))
	must(client.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseKind, Name: "noop", Reason: "zeta floods it"}))
	must(client.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme", Reason: "unpaid"}))
	own := Restricted{store: store}
	for name, who := range map[string]caller.Identity{
		"bound":     {Name: "acme's", Role: access.RoleViewer, Tenants: []string{"acme"}},
		"not bound": {Name: "ann", Role: access.RoleViewer},
	} {
		ctx, all := caller.With(t.Context(), caller.Caller{Identity: who}), name == "not bound"
		runs, err := own.Explain(ctx, running.ID)
		must(err)
		if runs.Run == nil || runs.Run.Node != node || (runs.Run.Name == "alpha") != all {
			t.Errorf("a caller who is %s sees the run %+v", name, runs.Run)
		}
		waits, err := own.Explain(ctx, waiting.ID)
		must(err)
		why := map[fairlead.LimitScope]string{}
		for _, o := range waits.Obstacles {
			if o.Code == fairlead.IsPaused {
				why[o.Scope] = o.Reason
				if strings.Contains(o.Text, "zeta") != (all && o.Scope == fairlead.LimitKind) {
					t.Errorf("a caller who is %s reads %q", name, o.Text)
				}
			}
		}
		if why[fairlead.LimitTenant] != "unpaid" || (why[fairlead.LimitKind] != "") != all {
			t.Errorf("a caller who is %s sees the reasons %v", name, why)
		}
		at := slices.IndexFunc(waits.Obstacles, func(o fairlead.Obstacle) bool { return o.Code == fairlead.NoSlot })
		if at < 0 || (len(waits.Obstacles[at].Kinds) == 2) != all || (len(waits.Obstacles[at].Kinds) == 0) == all {
			t.Errorf("a caller who is %s sees %+v", name, waits.Obstacles)
		}
	}
}
