package console

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// concern is a problem that needs attention, with a suggested remedy.
type concern struct {
	ID     string
	State  string // state that determines the color
	Text   string
	Href   string // link to the affected object
	Count  *count // number of affected rows; nil = not applicable
	Reason string // reason for a pause
	Remedy string
	Acts   []act // buttons that carry the remedy out
}

const (
	concernFailures = 200 // number of failed jobs that are read to find failing kinds
	concernReady    = 100 // number of ready jobs that are read if holds are not recorded
	concernKinds    = 5   // maximum number of listed kinds
)

// attention returns everything that needs attention. Each part makes a bounded number of
// queries.
func (v *visit) attention(o *overview) (all []concern, err error) {
	parts := []func(*overview) ([]concern, error){v.failingKinds, v.heldJobs, v.lateStarts, v.waitingBatches, v.waitingSweeps, v.pausedTenants}
	if v.Unbound() {
		parts = append([]func(*overview) ([]concern, error){v.deadNodes, v.openBreakers, v.pausedQueues, v.pausedKinds}, parts...)
	}
	for _, part := range parts {
		some, err := part(o)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// hourAgo returns the time one hour ago, rounded down to the minute, so that links with it
// stay the same for as long.
func (v *visit) hourAgo() time.Time { return v.Now.Add(-time.Hour).Truncate(time.Minute) }

// counted counts jobs up to a limit, with a link to them.
func (v *visit) counted(request *fairleadv1.CountJobsRequest, parameters ...any) (count, error) {
	answer, err := v.jobs.CountJobs(v.ctx, request)
	if err != nil {
		return count{}, err
	}
	c := count{N: int64(answer.GetTotal()), More: answer.GetMore()}
	if c.More {
		c.N = min(c.N, int64(request.GetAtMost()))
		parameters = append(parameters, "at_most", c.N)
	}
	c.Href = v.Href("/jobs", parameters...)
	return c, nil
}

// countedAmong counts the jobs of a kind on a page that was already read, with a link to
// them. The count is a lower bound if there are further pages.
func (v *visit) countedAmong(page *fairleadv1.ListJobsResponse, kind string, parameters ...any) count {
	c := count{More: page.GetNextPageToken() != ""}
	for _, job := range page.GetItems() {
		if job.GetKind() == kind {
			c.N++
		}
	}
	if c.More {
		parameters = append(parameters, "at_most", c.N)
	}
	c.Href = v.Href("/jobs", parameters...)
	return c
}

// failingKinds returns the kinds of the jobs that failed in the last hour.
func (v *visit) failingKinds(o *overview) (all []concern, err error) {
	since := v.hourAgo()
	failed, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{State: []string{"failed"}, FinishedFrom: timestamppb.New(since), PageSize: concernFailures})
	if err != nil {
		return nil, err
	}
	if n := int64(len(failed.GetItems())); o.Failed.More && n > o.Failed.N { // both are lower bounds
		o.Failed = count{N: n, More: true, Href: v.Href("/jobs", "state", "failed", "finished_from", since, "at_most", n)}
	}
	for _, kind := range commonKinds(failed.GetItems()) {
		c := v.countedAmong(failed, kind, "state", "failed", "kind", kind, "finished_from", since)
		all = append(all, concern{
			ID: "failing-" + kind, State: "failed", Text: v.T("Jobs of kind %s failed in the last hour:", kind), Count: &c, Href: v.Href("/failures", "kind", kind, "last", "1h"),
			Remedy: v.T("Find the common cause of the errors, fix it, then run the jobs again."),
			Acts:   []act{{Method: "CreateBulk", Href: v.bulkHref("retry", "state", "failed", "kind", kind, "finished_from", since), Label: v.T("Run all again")}},
		})
	}
	return all, nil
}

// commonKinds returns the most common kinds of the jobs.
func commonKinds(jobs []*fairleadv1.Job) (kinds []string) {
	times := map[string]int{}
	for _, job := range jobs {
		if times[job.GetKind()]++; times[job.GetKind()] == 1 {
			kinds = append(kinds, job.GetKind())
		}
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	return kinds[:min(len(kinds), concernKinds)]
}

// lateStarts reports jobs that started later than acceptable.
func (v *visit) lateStarts(o *overview) ([]concern, error) {
	if o.Usage.GetMissed() == 0 {
		return nil, nil
	}
	return []concern{{
		ID: "late", State: "paused", Href: v.Href("/tenants"),
		Text:   v.N(o.Usage.GetMissed(), "%s job missed its start-by time in the last minute.", "%s jobs missed their start-by time in the last minute."),
		Remedy: v.T("Add nodes or slots, or raise the cap of the waiting tenant."),
		Acts:   []act{{Href: v.Href("/holds", "last", "1h"), Label: v.T("Wait reasons")}},
	}}, nil
}

// waitingBatches returns batches that wait for a person.
func (v *visit) waitingBatches(o *overview) (all []concern, err error) {
	for _, b := range o.Batches {
		one := concern{ID: "batch-waits-" + text(b.GetId()), State: "paused", Href: v.To("/batches", b.GetId())}
		switch {
		case b.GetAwaiting():
			one.Text = v.T("The canary of batch %s has finished and is waiting for approval.", b.GetName())
			one.Remedy = v.T("Review its tasks, then approve it.")
			one.Acts = []act{{Method: "ApproveBatch", Href: v.To("/batches", b.GetId()) + "/approve", Label: v.T("Approve")}}
		case b.GetPaused():
			one.Text = v.T("Batch %s is paused.", b.GetName())
			one.Remedy = v.T("No further tasks start until you resume it.")
			one.Acts = []act{{Method: "ResumeBatch", Href: v.To("/batches", b.GetId()) + "/resume", Label: v.T("Resume")}}
		default:
			continue
		}
		all = append(all, one)
	}
	return all, nil
}

// waitingSweeps returns sweeps that wait at their gate.
func (v *visit) waitingSweeps(o *overview) (all []concern, err error) {
	for _, s := range o.Sweeps {
		if s.GetState() == "waiting" {
			all = append(all, concern{
				ID: "sweep-waits-" + s.GetId(), State: "waiting", Href: v.To("/sweeps", s.GetId()), Text: v.T("Sweep %s is waiting at its gate.", s.GetName()),
				Remedy: v.T("The sweep starts when the business system or a user opens its gate."),
				Acts:   []act{{Method: "OpenSweep", Href: v.To("/sweeps", s.GetId()) + "/open", Label: v.T("Open gate")}},
			})
		}
	}
	return all, nil
}
