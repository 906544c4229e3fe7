package console

import (
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cause"
)

// causePage shows the failures with one cause. Its URL contains nothing that changes with
// time, so it can be shared.
type causePage struct {
	Kind, Like string
	Period     *period
	Parent     string // link to all failures of the kind in the period
	All        string // link to the list of jobs
	Trend      trend
	Ticks      []tick
	Jobs       []*fairleadv1.Job // newest failed jobs with this cause
	Found      int
	Looked     int  // number of jobs that were read
	More       bool // whether there are older jobs that were not read
	First      time.Time
	Last       time.Time
	Tenants    []tenantShare
	Retry      string // link to the form that retries all of them
}

// tenantShare is the number of the jobs that belong to a tenant.
type tenantShare struct {
	Tenant string
	N      int
}

const (
	causeRows  = 20 // number of listed jobs
	causeTicks = 8
)

// causeHref returns a link to the page of a failure cause, limited to the given filter and
// period.
func (v *visit) causeHref(kind, like string, filter *fairleadv1.ListJobsRequest, period *period) string {
	parameters := append([]any{"kind", kind, "like", like}, period.parameters()...)
	for _, tenant := range filter.GetTenant() {
		parameters = append(parameters, "tenant", tenant)
	}
	for _, queue := range filter.GetQueue() {
		parameters = append(parameters, "queue", queue)
	}
	return v.Href("/failures/cause", parameters...)
}

func loadCause(v *visit) (any, error) {
	p := v.parameters()
	p.renamed("span", "last")
	page := &causePage{Kind: p.text("kind"), Like: p.text("like"), Period: p.period("24h")}
	filter := &fairleadv1.ListJobsRequest{State: []string{"failed"}, Kind: []string{page.Kind}, Tenant: p.texts("tenant"), Queue: p.texts("queue")}
	if page.Kind == "" || page.Like == "" {
		p.refuse("kind", v.T("must be specified together with like; follow a link on the failures page"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	filter.FinishedFrom, filter.To = page.Period.starts(), page.Period.ends() // a job that failed before the end was created before it
	page.Parent = v.Href("/failures", append([]any{"kind", page.Kind}, page.Period.parameters()...)...)
	chosen := filterQuery(filterOf(filter))
	chosen.Set("like", page.Like)
	page.Retry = v.Href("/new/bulk/retry", "filter", chosen.Encode())
	chosen.Del("to")
	if end := text(page.Period.ends()); end != "" {
		chosen.Set("finished_to", end)
	}
	page.All = v.link("/jobs", chosen)
	if err := page.look(v, filter); err != nil {
		return nil, err
	}
	marks, step := ticksOf(page.Period.From, page.Period.To, causeTicks, v.Zone)
	for _, at := range marks {
		share := float64(at.Sub(page.Period.From)) / float64(page.Period.To.Sub(page.Period.From))
		page.Ticks = append(page.Ticks, tick{X: share * float64(largeTrend.width), Width: float64(largeTrend.width), Text: tickText(at, step)})
	}
	return page, nil
}

// look reads failed jobs, window by window, and retains what it needs of those with the
// cause.
func (p *causePage) look(v *visit, filter *fairleadv1.ListJobsRequest) error {
	var ended []time.Time
	places := map[string]int{}
	for range failureWindows {
		page, err := v.readJobs(filter, windowJobs)
		if err != nil {
			return err
		}
		p.Looked += len(page.jobs)
		for _, job := range page.jobs {
			if cause.Of(job.GetError()) != p.Like || !p.Period.has(moment(job.GetFinishedAt())) {
				continue
			}
			p.Found++
			ended = append(ended, moment(job.GetFinishedAt()))
			if len(p.Jobs) < causeRows {
				p.Jobs = append(p.Jobs, job)
			}
			place, known := places[job.GetTenant()]
			if !known {
				place = len(p.Tenants)
				places[job.GetTenant()] = place
				p.Tenants = append(p.Tenants, tenantShare{Tenant: job.GetTenant()})
			}
			p.Tenants[place].N++
		}
		filter.PageToken, p.More = page.next, page.next != ""
		if !p.More {
			break
		}
	}
	for _, at := range ended {
		if p.First.IsZero() || at.Before(p.First) {
			p.First = at
		}
		if at.After(p.Last) {
			p.Last = at
		}
	}
	p.Trend = newTrend(ended, p.Period.From, p.Period.To, largeTrend)
	return nil
}

// AxisHeight returns the height of the chart including the time labels.
func (p *causePage) AxisHeight() int { return p.Trend.Height + 16 }

// Share returns a bar of a part of the jobs.
func (p *causePage) Share(n int) map[string]any { return bar(float64(n), float64(p.Found), text(n)) }
