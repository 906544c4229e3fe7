package console

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cause"
)

const (
	failureGroups  = 100 // maximum number of groups shown
	failureTenants = 5   // maximum number of tenants listed per group
	failureWindows = 20  // maximum number of windows read per page, each of windowJobs jobs
)

// failures groups the failed jobs of a period.
type failures struct {
	Groups   []failureGroup
	Cut      bool // whether there are more groups than shown
	Filtered bool
	Period   *period   // when the jobs failed
	Jobs     int       // number of jobs read
	Old      time.Time // creation time of the oldest of them
	Search   *search   // progress while nothing has been found, otherwise nil
	Pages    map[string]any
}

// failureGroup is a group of failed jobs with the same kind and cause.
type failureGroup struct {
	ID          string // ID of its HTML element
	Kind, Like  string
	Count       count
	First, Last time.Time // times of the first and last failure
	Newest      *fairleadv1.Job
	Trend       trend
	Href        string // link to its page
	Tenants     []string
	Others      bool // whether there are more tenants
	jobs        int64
	ended       []time.Time
}

func loadFailures(v *visit) (any, error) {
	p := v.parameters()
	p.renamed("finished_from", "from")
	f := &failures{Period: p.period("24h"), Pages: map[string]any{"first": "", "next": ""}}
	filter := &fairleadv1.ListJobsRequest{
		State: []string{"failed"}, Kind: p.texts("kind"), Tenant: p.texts("tenant"), Queue: p.texts("queue"), PageToken: p.text("page"),
		FinishedFrom: f.Period.starts(), To: f.Period.ends(), // a job that failed before the end was created before it
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	f.Filtered = len(filter.Kind)+len(filter.Tenant)+len(filter.Queue) > 0 || f.Period.Last != "24h"
	read, err := v.readFailures(filter)
	if err != nil {
		return nil, err
	}
	jobs := slices.DeleteFunc(read.jobs, func(job *fairleadv1.Job) bool { return !f.Period.has(moment(job.GetFinishedAt())) })
	f.Groups, f.Jobs = groupFailures(jobs), len(jobs)
	if filter.PageToken != "" {
		f.Pages["first"] = v.Here()
	}
	if read.next != "" {
		f.Pages["next"] = v.Here("page", read.next)
	}
	if f.Jobs == 0 && read.next != "" {
		if f.Search, err = v.searchOn(read, text(f.Pages["next"])); err != nil {
			return nil, err
		}
	}
	if len(f.Groups) > failureGroups {
		f.Groups, f.Cut = f.Groups[:failureGroups], true
	}
	if f.Jobs > 0 {
		f.Old = moment(jobs[f.Jobs-1].GetCreatedAt())
	}
	from, to := endsOf(jobs)
	for i := range f.Groups {
		group := &f.Groups[i]
		group.Count = count{N: group.jobs, Href: v.failuresOf(*group, jobs, filter, f.Period), Tone: "bad"}
		group.Trend = newTrend(group.ended, from, to, smallTrend)
		group.Href = v.causeHref(group.Kind, group.Like, filter, f.Period)
	}
	return f, nil
}

// readFailures reads the failed jobs of one page, one window at a time.
func (v *visit) readFailures(filter *fairleadv1.ListJobsRequest) (all foundJobs, err error) {
	window := proto.CloneOf(filter)
	for range failureWindows {
		page, err := v.readJobs(window, windowJobs)
		if err != nil {
			return foundJobs{}, err
		}
		all = foundJobs{append(all.jobs, page.jobs...), page.next, page.searched}
		if page.next == "" {
			break
		}
		window.PageToken = page.next
	}
	return all, nil
}

// endsOf returns the times of the first and last end among jobs.
func endsOf(jobs []*fairleadv1.Job) (first, last time.Time) {
	for _, job := range jobs {
		ended := moment(job.GetFinishedAt())
		if first.IsZero() || ended.Before(first) {
			first = ended
		}
		if ended.After(last) {
			last = ended
		}
	}
	return first, last
}

// failuresOf returns the link to the list of exactly the jobs of a group: those of its kind
// and cause within the window. It leaves out jobs created after the window was read.
func (v *visit) failuresOf(group failureGroup, window []*fairleadv1.Job, filter *fairleadv1.ListJobsRequest, period *period) string {
	var last time.Time
	for _, job := range window { // IDs grow in the order of storing, which is nearly that of creation
		if created := moment(job.GetCreatedAt()); created.After(last) {
			last = created
		}
	}
	parameters := []any{
		"state", "failed", "kind", group.Kind, "like", group.Like, "to", last.Add(time.Microsecond),
		"down_to", window[len(window)-1].GetId(), "finished_from", filter.GetFinishedFrom(), "finished_to", period.ends(), "page", filter.GetPageToken(),
	}
	for _, tenant := range filter.GetTenant() {
		parameters = append(parameters, "tenant", tenant)
	}
	for _, queue := range filter.GetQueue() {
		parameters = append(parameters, "queue", queue)
	}
	return v.Href("/jobs", parameters...)
}

// groupFailures groups similar failures, most frequent first. The jobs must be sorted
// newest first.
func groupFailures(jobs []*fairleadv1.Job) []failureGroup {
	type causeOf struct{ kind, like string }
	places := map[causeOf]int{}
	var groups []failureGroup
	for _, job := range jobs {
		key := causeOf{job.GetKind(), cause.Of(job.GetError())}
		place, there := places[key]
		if !there {
			place = len(groups)
			places[key] = place
			groups = append(groups, failureGroup{ID: causeID(key.kind, key.like), Kind: key.kind, Like: key.like, Newest: job})
		}
		groups[place].add(job)
	}
	slices.SortStableFunc(groups, func(a, b failureGroup) int { return cmp.Or(cmp.Compare(b.jobs, a.jobs), b.Last.Compare(a.Last)) })
	return groups
}

func (g *failureGroup) add(job *fairleadv1.Job) {
	g.jobs++
	ended := moment(job.GetFinishedAt())
	g.ended = append(g.ended, ended)
	if g.First.IsZero() || ended.Before(g.First) {
		g.First = ended
	}
	if ended.After(g.Last) {
		g.Last = ended
	}
	switch {
	case slices.Contains(g.Tenants, job.GetTenant()):
	case len(g.Tenants) < failureTenants:
		g.Tenants = append(g.Tenants, job.GetTenant())
	default:
		g.Others = true
	}
}

// causeID returns the element ID of a group, which is stable as long as the group exists.
func causeID(kind, like string) string {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%q %q", kind, like)
	return fmt.Sprintf("cause-%x", hash.Sum64())
}
