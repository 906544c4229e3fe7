package pages

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
)

// Numbers of rows that screens show or read.
const (
	listed   = 50       // rows of a list
	planned  = 25 * 31  // schedules, and the last 30 runs of each, which are drawn
	windowed = 500      // of what is looked through, as for errors that are alike
	searched = 4 * 500  // jobs read in search of a rare error
	failed   = 20 * 500 // failed jobs read to group them by cause
	drawn    = 3000     // holds of a picture
	measured = 1000     // runs of a schedule that its figures are made of
)

// ask is a page with its filters.
type ask struct {
	path string // including parameters
	page int    // number of rows that it may show or read
}

// at returns a page with parameters given as names and values.
func at(page int, path string, parameters ...string) ask {
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		query.Add(parameters[i], parameters[i+1])
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return ask{path: path, page: page}
}

// stamp formats a time for a parameter.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// asksOf returns everything that is measured.
func asksOf(s lists.Stored) []ask {
	return slices.Concat(overviewAsks(), jobAsks(s), failureAsks(s), scheduleAsks(s), batchAsks(s), sweepAsks(s), clusterAsks(s))
}

func overviewAsks() []ask { return []ask{at(listed, "/")} }

// jobStates lists all states of jobs.
var jobStates = []fairlead.State{
	fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting,
	fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped,
}

func jobAsks(s lists.Stored) []ask {
	hour, middle := stamp(s.Ended.Add(-time.Hour)), stamp(s.Began.Add(s.Ended.Sub(s.Began)/2))
	schedule, batch := fmt.Sprint(s.Schedule), fmt.Sprint(s.Batch)
	all := []ask{
		at(listed, "/jobs"),
		at(listed, "/jobs", "tenant", s.Tenant), at(listed, "/jobs", "tenant", s.FewTenant), at(listed, "/jobs", "tenant", "tenant-7", "state", "failed"),
		at(listed, "/jobs", "kind", s.Kind), at(listed, "/jobs", "kind", s.FewKind), at(listed, "/jobs", "kind", s.FewKind, "state", "succeeded"),
		at(listed, "/jobs", "queue", s.Queue), at(listed, "/jobs", "queue", s.Queue, "tenant", "tenant-7", "kind", s.Kind),
		at(listed, "/jobs", "key", s.Key), at(listed, "/jobs", "schedule", schedule), at(listed, "/jobs", "schedule", schedule, "state", "failed"),
		at(listed, "/jobs", "batch", batch), at(listed, "/jobs", "batch", batch, "state", "failed"),
		at(listed, "/jobs", "from", middle), at(listed, "/jobs", "to", middle), at(listed, "/jobs", "from", middle, "to", stamp(s.Ended), "state", "failed"),
		at(listed, "/jobs", "finished_from", hour), at(listed, "/jobs", "finished_from", hour, "state", "failed"), at(listed, "/jobs", "finished_from", hour, "tenant", s.FewTenant),
		at(searched, "/jobs", "state", "failed", "text", "target 7 "), at(searched, "/jobs", "text", "found nowhere"),
	}
	for _, state := range jobStates {
		all = append(all, at(listed, "/jobs", "state", string(state)))
		if id := s.Jobs[state]; id != 0 { // with few jobs, there may be none in this state
			all = append(all, at(listed, fmt.Sprint("/jobs/", id)))
		}
	}
	return all
}

func failureAsks(s lists.Stored) []ask {
	hour, middle := stamp(s.Ended.Add(-time.Hour)), s.Began.Add(s.Ended.Sub(s.Began)/2)
	all := []ask{
		at(failed, "/failures"), at(failed, "/failures", "kind", s.Kind), at(failed, "/failures", "kind", s.FewKind), at(failed, "/failures", "tenant", s.Tenant),
		at(failed, "/failures", "tenant", s.FewTenant), at(failed, "/failures", "queue", s.Queue), at(failed, "/failures", "finished_from", hour),
		at(failed, "/failures/cause", "kind", s.Kind, "like", "target N failed", "span", "30d"), at(failed, "/failures/cause", "kind", s.FewKind, "like", "found nowhere"),
		at(windowed, "/runs", "from", stamp(middle), "to", stamp(middle.Add(time.Hour))),
		at(windowed, "/runs", "from", hour, "to", stamp(s.Ended), "tenant", "tenant-7"),
	}
	for _, by := range []string{"queue", "tenant", "node", "schedule"} {
		all = append(all, at(windowed, "/runs", "by", by))
	}
	return all
}

func scheduleAsks(s lists.Stored) []ask {
	return []ask{
		at(planned, "/schedules"), at(planned, "/schedules", "tenant", s.Tenant), at(planned, "/schedules", "tenant", s.FewTenant),
		at(planned, "/schedules", "enabled", "true"), at(planned, "/schedules", "enabled", "false"), at(planned, "/schedules", "tenant", s.Tenant, "enabled", "false"),
		at(measured, fmt.Sprint("/schedules/", s.Schedule)), at(listed, "/calendars"), at(listed, "/calendars/"+s.Calendar),
		at(windowed, "/load"), at(windowed, "/load", "tenant", s.Tenant),
	}
}

func batchAsks(s lists.Stored) []ask {
	one := fmt.Sprint("/batches/", s.Batch)
	all := []ask{
		at(listed, "/batches"), at(listed, "/batches", "open", "true"), at(listed, "/batches", "tenant", s.Tenant), at(listed, "/batches", "type", "rare"),
		at(listed, "/batches", "name", "batch-5"), at(listed, "/batches", "queue", s.Queue),
		at(windowed, one), at(windowed, fmt.Sprint("/batches/", s.OpenBatch)), at(listed, one+"/tasks"), at(windowed, one+"/tasks", "state", "fail", "like", "timeout"),
	}
	for _, state := range []string{"pending", "running", "success", "fail"} {
		all = append(all, at(listed, one+"/tasks", "state", state))
	}
	return all
}

func sweepAsks(s lists.Stored) []ask {
	one := fmt.Sprint("/sweeps/", s.Sweep)
	return []ask{
		at(listed, "/sweeps"), at(listed, "/sweeps", "tenant", s.Tenant), at(listed, "/sweeps", "state", "created"), at(listed, "/sweeps", "state", "running"),
		at(windowed, one), at(listed, one+"/failed"), at(windowed, one+"/failed", "like", "it failed"),
		at(listed, one+"/log"), at(listed, one+"/log", "level", "error"), at(listed, one+"/log", "index", "7"), at(listed, one+"/history"),
	}
}

func clusterAsks(s lists.Stored) []ask {
	middle := s.Began.Add(s.Ended.Sub(s.Began) / 2)
	return []ask{
		at(listed, "/tenants"), at(listed, "/tenants", "page", "tenant-5"), at(listed, "/tenants/"+s.Tenant),
		at(drawn, "/holds"), at(drawn, "/holds", "queue", s.Queue, "last", "7d"), at(drawn, "/holds", "tenant", s.FewTenant, "kind", s.Kind),
		at(listed, "/bulks"), at(listed, fmt.Sprint("/bulks/", s.Bulk)),
		at(listed, "/queues"), at(listed, "/nodes"), at(windowed, fmt.Sprint("/nodes/", s.Node)), at(listed, "/tokens"),
		at(listed, "/audit"), at(listed, "/audit", "actor", "rare"), at(listed, "/audit", "action", "Rare"), at(listed, "/audit", "subject", "job 1"),
		at(listed, "/audit", "from", stamp(middle), "to", stamp(middle.Add(time.Hour))),
	}
}
