package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// addSchedule stores a schedule that fires after so many hours.
func (a *guardedAPI) addSchedule(name, tenant string, hours int) {
	a.Helper()
	at := time.Now().Add(time.Duration(hours) * time.Hour)
	if _, err := a.schedules.Put(a.Context(), schedule.Schedule{Name: name, At: at, Job: fairlead.Job{Kind: "noop", Tenant: tenant}}); err != nil {
		a.Fatal(err)
	}
}

// addScheduleOf stores a schedule that is due by a cron expression.
func (a *guardedAPI) addScheduleOf(name, cron string) {
	a.Helper()
	if _, err := a.schedules.Put(a.Context(), schedule.Schedule{Name: name, Cron: cron, Job: fairlead.Job{Kind: "noop"}}); err != nil {
		a.Fatal(err)
	}
}

func TestTheSoonestSchedulesAreListedOnOnePage(t *testing.T) {
	onEveryStore(t, func(t *testing.T, a *guardedAPI) {
		a.addSchedule("a", "acme", 3)
		a.addSchedule("b", "zeta", 1)
		a.addSchedule("c", "acme", 2)
		for query, want := range map[string][]string{
			"soonest=true":              {"b", "c", "a"},
			"soonest=true&page_size=2":  {"b", "c"},
			"soonest=true&enabled=true": {"b", "c", "a"},
			"soonest=false":             {"a", "b", "c"},
		} {
			page, _ := a.send(200, "GET", schedules+"?"+query, "", a.viewer("")...)
			var got []string
			for _, item := range items(t, page) {
				got = append(got, item["name"].(string))
			}
			if diff := cmp.Diff(want, got); diff != "" || page["next_page_token"] != nil {
				t.Errorf("%s (-want +got):\n%s\nnext page %v", query, diff, page["next_page_token"])
			}
		}
	})
}

// A list of the soonest schedules ends early if they are large. It names no next page, because
// there is none to ask for.
func TestLargeSoonestSchedulesAreListedOnOnePage(t *testing.T) {
	a := newGuardedAPI(t)
	for hours, name := range []string{"a", "b", "c"} {
		at := time.Now().Add(time.Duration(hours+1) * time.Hour)
		large := []byte(`"` + strings.Repeat("x", 600<<10) + `"`)
		if _, err := a.schedules.Put(a.Context(), schedule.Schedule{Name: name, At: at, Job: fairlead.Job{Kind: "noop", Args: large}}); err != nil {
			t.Fatal(err)
		}
	}
	page, _ := a.send(200, "GET", schedules+"?soonest=true", "", a.viewer("")...)
	if n := len(items(t, page)); n != 2 || page["next_page_token"] != nil {
		t.Errorf("%d schedules, next page %v", n, page["next_page_token"])
	}
}

func TestTheSoonestSchedulesAreNotChosenByAnythingElse(t *testing.T) {
	a := newGuardedAPI(t)
	for query, reason := range map[string]string{"tenant=acme": "tenants", "page_token=a": "later page", "enabled=false": "enabled=false"} {
		problem, _ := a.send(400, "GET", schedules+"?soonest=true&"+query, "", a.viewer("")...)
		if refusal := refusals(problem)["soonest"]; !strings.Contains(refusal, reason) {
			t.Errorf("%s is refused with %v", query, problem)
		}
	}
}

func TestACallerWhoIsBoundMayNotSeeTheSoonestSchedulesOfAll(t *testing.T) {
	a := newGuardedAPI(t)
	a.addSchedule("ours", "acme", 1)
	a.send(403, "GET", schedules+"?soonest=true", "", a.viewer("acme")...)
}
