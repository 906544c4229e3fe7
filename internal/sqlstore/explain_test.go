package sqlstore

import (
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

var explained = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// readyFacts returns the facts of a job without obstacles, which starts immediately.
func readyFacts() Facts {
	return Facts{
		Now:         explained,
		Job:         &fairlead.Job{ID: 7, Queue: "q", Tenant: "t", Kind: "k", Status: fairlead.Status{State: fairlead.Ready}},
		LimitConfig: NewLimitConfig(1, nil, nil, nil),
		Limits:      map[int32]*dispatch.Limit{},
		Nodes:       []fairlead.Node{{ID: 1, Kinds: []string{"k"}, Idle: 1, Until: explained.Add(time.Second)}},
	}
}

// under adds a limit with the given usage to the facts of a job.
func (f *Facts) under(limit fairlead.Limit, stands dispatch.Limit) {
	stands.ID, stands.Cap, stands.Rate, stands.Burst = 3, limit.MaxRunning, limit.Rate, limit.Burst
	f.LimitConfig = NewLimitConfig(1, nil, nil, []*StoredLimit{{ID: 3, Limit: limit}})
	f.Limits[3] = &stands
}

func TestWhatIsInTheWayOfAJobIsSaid(t *testing.T) {
	hour := explained.Add(time.Hour)
	for name, c := range map[string]struct {
		change func(f *Facts)
		want   []string
		start  time.Time // zero if unknown
	}{
		"nothing": {func(*Facts) {}, nil, explained},
		"it runs": {func(f *Facts) { f.Job.State = fairlead.Running }, nil, time.Time{}},
		"its time has not come": {
			func(f *Facts) { f.Job.State, f.Job.NotBefore = fairlead.Scheduled, hour },
			[]string{"not_due: it is not due until 2030-01-01T01:00:00Z"},
			hour,
		},
		"it backs off": {
			func(f *Facts) { f.Job.State, f.Job.NotBefore, f.Job.Failures = fairlead.Scheduled, hour, 2 },
			[]string{"not_due: it is backing off until 2030-01-01T01:00:00Z after 2 failed attempts"},
			hour,
		},
		"an earlier run": {
			func(f *Facts) { f.Job.State, f.Job.NotBefore = fairlead.Scheduled, fairlead.Never },
			[]string{"queued: it is waiting for an earlier run of its schedule"},
			time.Time{},
		},
		"a gate": {
			func(f *Facts) {
				f.Job.State, f.Job.ConcurrencyKey = fairlead.Parked, "c"
				f.Gate = Gate{Places: 3, Taken: 3, By: []int64{4, 5}, Ahead: 2}
			},
			[]string{`at_gate: concurrency key "c" has 3 of 3 slots in use, by job 4, job 5, others`, "in_line: 2 jobs are ahead of it"},
			time.Time{},
		},
		"a gate whose places are all known": {
			func(f *Facts) {
				f.Job.State, f.Job.ConcurrencyKey, f.Gate = fairlead.Parked, "c", Gate{Places: 1, Taken: 1, By: []int64{4}}
			},
			[]string{`at_gate: concurrency key "c" has 1 of 1 slots in use, by job 4`},
			time.Time{},
		},
		"a pause": {
			func(f *Facts) {
				f.LimitConfig = NewLimitConfig(1, []fairlead.Pause{{Scope: fairlead.PauseKind, Name: "k"}, {Scope: fairlead.PauseTenant, Name: "p"}}, map[string]string{"t": "p"}, nil)
			},
			[]string{`paused: kind "k" is paused`, `paused: tenant "p" is paused`},
			time.Time{},
		},
		"a cap of which nothing is known to end": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 2}, dispatch.Limit{Used: 2})
			},
			[]string{"at_cap: the cluster is at its cap: 2 of 2 jobs are running or awaiting a result"},
			time.Time{},
		},
		"a cap under which jobs of the tenant go on being started": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", MaxRunning: 2}, dispatch.Limit{Used: 2})
				f.Starts = startsOf("t", 10, "other", 90)
			},
			[]string{`at_cap: tenant "t" is at its cap: 2 of 2 jobs are running or awaiting a result`},
			explained.Add(fairlead.UsageWindow / 10),
		},
		"a cap with room": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", MaxRunning: 2}, dispatch.Limit{Used: 1})
			},
			nil, explained,
		},
		"a rate": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", Rate: 0.5, Burst: 1}, dispatch.Limit{})
			},
			[]string{`over_rate: queue "q" is at its rate of 0.5 jobs per second; the next job can start in 2s`},
			explained.Add(2 * time.Second),
		},
		"a cap and a rate": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1, Rate: 1, Burst: 1}, dispatch.Limit{Used: 1})
				f.Starts = startsOf("t", 1)
			},
			[]string{`at_cap: the cluster is at its cap: 1 of 1 jobs are running or awaiting a result`, `over_rate: the cluster is at its rate of 1 jobs per second; the next job can start in 1s`},
			explained.Add(fairlead.UsageWindow),
		},
		"a cap of a queue, as starts are not counted by queue": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1}, dispatch.Limit{Used: 1})
				f.Starts = startsOf("t", 1)
			},
			[]string{`at_cap: queue "q" is at its cap: 1 of 1 jobs are running or awaiting a result`},
			time.Time{},
		},
		"a cap of the tenant's parent, under which its other children start jobs": {
			func(f *Facts) {
				limit := fairlead.Limit{Scope: fairlead.LimitTenant, Name: "p", MaxRunning: 2}
				f.under(limit, dispatch.Limit{Used: 2})
				f.LimitConfig = NewLimitConfig(1, nil, map[string]string{"t": "p", "sibling": "p"}, []*StoredLimit{{ID: 3, Limit: limit}})
				f.Starts = startsOf("sibling", 10, "other", 90)
			},
			[]string{`at_cap: tenant "p" is at its cap: 2 of 2 jobs are running or awaiting a result`},
			explained.Add(fairlead.UsageWindow / 10),
		},
		"a cap that is reached when those before it have started": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", MaxRunning: 3}, dispatch.Limit{Used: 1})
				f.Ahead, f.Starts = line(4), startsOf("t", 10, "other", 90)
			},
			[]string{"in_line: 4 jobs are ahead of it"},
			explained.Add(fairlead.UsageWindow * 3 / 10),
		},
		"a full cap with others before it": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", MaxRunning: 3}, dispatch.Limit{Used: 3})
				f.Ahead, f.Starts = line(4), startsOf("t", 10, "other", 90)
			},
			[]string{`at_cap: tenant "t" is at its cap: 3 of 3 jobs are running or awaiting a result`, "in_line: 4 jobs are ahead of it"},
			explained.Add(fairlead.UsageWindow / 2),
		},
		"a rate with others before it": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", Rate: 0.25, Burst: 1}, dispatch.Limit{Tokens: 0.5})
				f.Ahead, f.Starts = line(29), startsOf("t", 15, "other", 3000)
			},
			[]string{`over_rate: tenant "t" is at its rate of 0.25 jobs per second; the next job can start in 2s`, "in_line: 29 jobs are ahead of it"},
			explained.Add(118 * time.Second),
		},
		"a rate with others before it and a cap with room, while nothing was counted yet": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", MaxRunning: 3, Rate: 0.25, Burst: 1}, dispatch.Limit{Used: 1, Tokens: 0.5})
				f.Ahead = line(4)
			},
			[]string{`over_rate: tenant "t" is at its rate of 0.25 jobs per second; the next job can start in 2s`, "in_line: 4 jobs are ahead of it"},
			explained.Add(18 * time.Second),
		},
		"a rate with others before it that it does not hold": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", Rate: 0.25, Burst: 1}, dispatch.Limit{Tokens: 0.5})
				f.Ahead, f.Starts = JobsAhead{{Queue: "q", Tenant: "other", Kind: "k"}: 29}, startsOf("other", 3000)
			},
			[]string{`over_rate: tenant "t" is at its rate of 0.25 jobs per second; the next job can start in 2s`, "in_line: 29 jobs are ahead of it"},
			explained.Add(2 * time.Second),
		},
		"a limit that was removed just now": {
			func(f *Facts) {
				f.under(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1}, dispatch.Limit{Used: 1})
				delete(f.Limits, 3)
			},
			nil, explained,
		},
		"no node": {
			func(f *Facts) { f.Nodes[0].Kinds = nil },
			[]string{`no_node: no live node serves queue "q" and handles kind "k"`},
			time.Time{},
		},
		"a dead node":             {func(f *Facts) { f.Nodes[0].Dead = true }, []string{`no_node: no live node serves queue "q" and handles kind "k"`}, time.Time{}},
		"a node that is late":     {func(f *Facts) { f.Nodes[0].Until = explained }, []string{`no_node: no live node serves queue "q" and handles kind "k"`}, time.Time{}},
		"a node of another queue": {func(f *Facts) { f.Nodes[0].Queues = []string{"other"} }, []string{`no_node: no live node serves queue "q" and handles kind "k"`}, time.Time{}},
		"a node that drains": {
			func(f *Facts) { f.Nodes[0].Draining = true },
			[]string{"no_node: the 1 nodes that could run it are draining"},
			time.Time{},
		},
		"a node that drains beside another": {
			func(f *Facts) {
				f.Nodes = append(f.Nodes, f.Nodes[0])
				f.Nodes[0].Draining = true
			},
			nil, explained,
		},
		"no slot": {
			func(f *Facts) { f.Nodes[0].Idle, f.Starts = 0, startsOf("other", 5) },
			[]string{"no_slot: all slots are in use on the 1 nodes that could run it"},
			explained.Add(fairlead.UsageWindow / 5),
		},
		"crashes":                   {func(f *Facts) { f.Job.Crashes = 3 }, []string{"suspect: it was running during 3 crashes, so it does not run at the same time as other crash suspects"}, time.Time{}},
		"too few crashes":           {func(f *Facts) { f.Job.Crashes = 2 }, nil, explained},
		"one that goes first":       {func(f *Facts) { f.Ahead, f.Starts = line(1), startsOf("t", 4) }, []string{"in_line: 1 job is ahead of it"}, explained.Add(fairlead.UsageWindow / 4)},
		"some that go first":        {func(f *Facts) { f.Ahead, f.Starts = line(2), startsOf("t", 4) }, []string{"in_line: 2 jobs are ahead of it"}, explained.Add(fairlead.UsageWindow / 2)},
		"very many that go first":   {func(f *Facts) { f.Ahead, f.Starts = line(fairlead.MaxAhead), startsOf("t", 4) }, []string{"in_line: 10000 or more jobs are ahead of it"}, time.Time{}},
		"a time that none can tell": {func(f *Facts) { f.Ahead, f.Job.Crashes, f.Starts = line(1), 3, startsOf("t", 4) }, []string{"suspect: it was running during 3 crashes, so it does not run at the same time as other crash suspects", "in_line: 1 job is ahead of it"}, time.Time{}},
	} {
		f := readyFacts()
		c.change(&f)
		e := Explain(f)
		var got []string
		for _, o := range e.Obstacles {
			got = append(got, string(o.Code)+": "+o.Text)
		}
		if !slices.Equal(got, c.want) || !e.Start.Equal(c.start) {
			t.Errorf("%s: got %q and a start at %v, want %q and %v", name, got, e.Start, c.want, c.start)
		}
		if e.ID != 7 || e.State != f.Job.State || !e.At.Equal(explained) {
			t.Errorf("%s: it is about %+v", name, e)
		}
	}
}

func TestTheLanesThatCompeteWithAJobAreThoseThatItsNodesCouldStartNow(t *testing.T) {
	f := readyFacts()
	f.Nodes[0].Kinds = []string{"k", "full", "held"}
	f.Nodes = append(f.Nodes, fairlead.Node{ID: 2, Kinds: []string{"elsewhere"}, Idle: 1, Until: explained.Add(time.Second)})
	f.LimitConfig = NewLimitConfig(1, []fairlead.Pause{{Scope: fairlead.PauseKind, Name: "held"}}, nil,
		[]*StoredLimit{{ID: 3, Limit: fairlead.Limit{Scope: fairlead.LimitKind, Name: "full", MaxRunning: 1}}})
	f.Limits[3] = &dispatch.Limit{ID: 3, Cap: 1, Used: 1}
	lane := func(id int32, kind string) Lane { return Lane{id, LaneKey{Queue: "q", Tenant: "t", Kind: kind}} }
	rivals := f.Rivals([]Lane{lane(1, "k"), lane(2, "full"), lane(3, "held"), lane(4, "elsewhere")})
	if !slices.Equal(rivals, []Lane{lane(1, "k")}) {
		t.Errorf("got %v", rivals)
	}
}

func TestALaneThatOnlyALimitOfTheJobItselfClosesCompetesWithIt(t *testing.T) {
	f := readyFacts()
	f.under(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1}, dispatch.Limit{Used: 1})
	f.LimitConfig = NewLimitConfig(1, []fairlead.Pause{{Scope: fairlead.PauseTenant, Name: "held"}}, nil, []*StoredLimit{
		{ID: 3, Limit: fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1}},
		{ID: 4, Limit: fairlead.Limit{Scope: fairlead.LimitTenant, Name: "full", MaxRunning: 1}},
	})
	f.Limits[4] = &dispatch.Limit{ID: 4, Cap: 1, Used: 1}
	lane := func(id int32, tenant string) Lane { return Lane{id, LaneKey{Queue: "q", Tenant: tenant, Kind: "k"}} }
	rivals := f.Rivals([]Lane{lane(1, "t"), lane(2, "other"), lane(3, "full"), lane(4, "held")})
	if !slices.Equal(rivals, []Lane{lane(1, "t"), lane(2, "other")}) {
		t.Errorf("got %v", rivals)
	}
}

func TestAnExplanationCountsTheJobsOfTheSameTenantThatGoFirst(t *testing.T) {
	f := readyFacts()
	own, other := KeyOf(f.Job), KeyOf(f.Job)
	other.Tenant = "other"
	f.Ahead = JobsAhead{own: 3, other: 4}
	if e := Explain(f); e.Ahead != 7 || e.AheadOwn != 3 {
		t.Errorf("%d jobs go first, %d of the same tenant; want 7 and 3", e.Ahead, e.AheadOwn)
	}
}

func TestAStartThatNewerJobsPutOffIsEstimatedWhileTheyLeaveStartsToOthers(t *testing.T) {
	tenant := fairlead.Limit{Scope: fairlead.LimitTenant, Name: "t", Rate: 0.5, Burst: 1}
	for name, c := range map[string]struct {
		change func(f *Facts)
		reason fairlead.NoEstimateReason // empty if there is an estimate
		start  time.Time
	}{
		"half of the starts are left": {func(f *Facts) { f.Ahead, f.Newer, f.Starts = line(10), line(50), startsOf("t", 100) }, "", explained.Add(fairlead.UsageWindow / 5)},
		"hardly any are left":         {func(f *Facts) { f.Ahead, f.Newer, f.Starts = line(10), line(80), startsOf("t", 100) }, fairlead.Overtaken, time.Time{}},
		"more arrive than start":      {func(f *Facts) { f.Ahead, f.Newer, f.Starts = line(10), line(300), startsOf("t", 100) }, fairlead.Overtaken, time.Time{}},
		"they take a free slot":       {func(f *Facts) { f.Nodes[0].Idle, f.Newer, f.Starts = 0, line(90), startsOf("t", 100) }, fairlead.Overtaken, time.Time{}},
		"half of a rate is left": {
			func(f *Facts) { f.under(tenant, dispatch.Limit{}); f.Ahead, f.Newer = line(3), line(15) },
			"", explained.Add(14 * time.Second),
		},
		"a rate is used by them":    {func(f *Facts) { f.under(tenant, dispatch.Limit{}); f.Ahead, f.Newer = line(3), line(29) }, fairlead.Overtaken, time.Time{}},
		"nothing starts":            {func(f *Facts) { f.Ahead = line(3) }, fairlead.NoStarts, time.Time{}},
		"too many are ahead":        {func(f *Facts) { f.Ahead, f.Starts = line(fairlead.MaxAhead), startsOf("t", 100) }, fairlead.LongLine, time.Time{}},
		"no node runs jobs of it":   {func(f *Facts) { f.Nodes = nil }, fairlead.NoEnd, time.Time{}},
		"it can start without them": {func(f *Facts) { f.Newer = line(90) }, "", explained},
	} {
		f := readyFacts()
		c.change(&f)
		e, reason := Explain(f), fairlead.NoEstimateReason("")
		if e.NoEstimate != nil {
			reason = e.NoEstimate.Reason
			if e.NoEstimate.Text == "" {
				t.Errorf("%s: the reason has no text", name)
			}
		}
		if reason != c.reason || !e.Start.Equal(c.start) {
			t.Errorf("%s: got %q and a start at %v, want %q and %v", name, reason, e.Start, c.reason, c.start)
		}
	}
}

// line returns a number of jobs in the lane of readyFacts' job.
func line(jobs int) JobsAhead { return JobsAhead{KeyOf(readyFacts().Job): jobs} }

// startsOf returns the number of started jobs per tenant.
func startsOf(counts ...any) (all []driver.Starts) {
	for i := 0; i < len(counts); i += 2 {
		all = append(all, driver.Starts{Tenant: counts[i].(string), Count: counts[i+1].(int)})
	}
	return all
}
