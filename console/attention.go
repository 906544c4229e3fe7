package console

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// concern is something that a person should look at, and what to do about it.
type concern struct {
	ID     string
	State  string // of which it is the colour
	Text   string
	Href   string // of what it is about
	Count  *count // of the rows that it is about; nil: it is about none
	Remedy string
	Acts   []act // buttons that carry the remedy out
}

const (
	concernFailures = 200 // failed jobs that are looked at, to see which kinds fail
	concernReady    = 100 // ready jobs that are looked at if holds are not recorded
	concernKinds    = 5   // that are named
)

// attention collects what needs a person. Each part asks for little, whatever there is.
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

// hourAgo is when the last hour began, to the minute: a link keeps its meaning for as
// long.
func (v *visit) hourAgo() time.Time { return v.Now.Add(-time.Hour).Truncate(time.Minute) }

// counted counts jobs up to a bound, and leads to them.
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

// countedAmong counts the jobs of a kind on a page that was read anyway, and leads to
// them. If jobs follow the page there are more.
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

// failingKinds are the kinds of the jobs that failed in the last hour.
func (v *visit) failingKinds(*overview) (all []concern, err error) {
	since := v.hourAgo()
	failed, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{State: []string{"failed"}, FinishedFrom: timestamppb.New(since), PageSize: concernFailures})
	if err != nil {
		return nil, err
	}
	for _, kind := range commonKinds(failed.GetItems()) {
		c := v.countedAmong(failed, kind, "state", "failed", "kind", kind, "finished_from", since)
		all = append(all, concern{
			ID: "failing-" + kind, State: "failed", Text: v.T("Jobs of kind %s failed in the last hour:", kind), Count: &c, Href: v.Href("/failures", "kind", kind),
			Remedy: v.T("Check what the errors have in common, fix the cause, then run the jobs again."),
			Acts:   []act{{Method: "CreateBulk", Href: v.bulkHref("retry", "state", "failed", "kind", kind, "finished_from", since), Label: v.T("Run all again")}},
		})
	}
	return all, nil
}

// commonKinds are the kinds that most of the jobs have.
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

// lateStarts tells of jobs that started later than they should have.
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

// waitingBatches are batches that go on only if a person wants them to.
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

// waitingSweeps are sweeps that wait for the business.
func (v *visit) waitingSweeps(o *overview) (all []concern, err error) {
	for _, s := range o.Sweeps {
		if s.GetState() == "waiting" {
			all = append(all, concern{
				ID: "sweep-waits-" + s.GetId(), State: "waiting", Href: v.To("/sweeps", s.GetId()), Text: v.T("Sweep %s is waiting at its gate.", s.GetName()),
				Remedy: v.T("It starts when the business or a user opens the gate."),
				Acts:   []act{{Method: "OpenSweep", Href: v.To("/sweeps", s.GetId()) + "/open", Label: v.T("Open gate")}},
			})
		}
	}
	return all, nil
}
