package console

import (
	"strconv"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// why explains in words what keeps a job from running.
type why struct {
	Obstacles []obstacle
	Start     time.Time // estimated start; zero = unknown
	NoStart   string    // reason why it is unknown
	Share     string    // the tenant's share of starts, where tenants share them
}

// obstacle is one thing that keeps a job from starting, with a remedy.
type obstacle struct {
	Code   string
	Text   string
	Until  time.Time
	Reason string // reason for a pause
	Remedy string
	Acts   []act // buttons that carry out the remedy
	Links  []link
}

// link is a link to another page.
type link struct {
	Text, Href string
}

// whyNot explains why a job that could run does not.
func (v *visit) whyNot(job *fairleadv1.Job) (*why, error) {
	switch job.GetState() {
	case "scheduled", "parked", "ready":
	default:
		return nil, nil
	}
	answer, err := v.jobs.ExplainJob(v.ctx, &fairleadv1.GetJobRequest{Id: job.GetId()})
	if err != nil {
		return nil, err
	}
	out := &why{Start: moment(answer.GetStart()), NoStart: v.noStart(answer.GetNoEstimate()), Share: v.share(answer.GetShare())}
	for _, o := range answer.GetObstacles() {
		out.Obstacles = append(out.Obstacles, v.explain(job, o, int64(answer.GetAhead())))
	}
	return out, nil
}

// noStart describes why the start of a job cannot be estimated. Obstacles without a known end
// speak for themselves.
func (v *visit) noStart(none *fairleadv1.NoEstimate) string {
	switch none.GetReason() {
	case "overtaken":
		if none.GetNewer() == 0 { // hidden from viewers bound to tenants
			return v.T("Newer jobs with a higher priority or an earlier start-by time arrive about as fast as jobs start.")
		}
		return v.T("In the last minute, %s newer jobs with a higher priority or an earlier start-by time arrived, and %s jobs can start per minute.",
			v.Num(none.GetNewer()), v.Num(none.GetStarted()))
	case "no_starts":
		return v.T("No job started in the last minute.")
	case "long_line":
		return v.T("Too many jobs are ahead.")
	}
	return ""
}

// share describes a tenant's share of starts, or returns nothing if tenants do not share
// them.
func (v *visit) share(s *fairleadv1.Share) string {
	if s == nil {
		return ""
	}
	percent := func(part float64) string { return strconv.FormatFloat(100*part, 'f', 1, 64) + " %" }
	return v.T("Tenants share starts by weight: with weight %s, this tenant is entitled to %s of starts and received %s in the last minute.",
		v.Num(s.GetWeight()), percent(s.GetEntitled()), percent(s.GetHad()))
}

// explain describes an obstacle in words.
func (v *visit) explain(job *fairleadv1.Job, o *fairleadv1.Obstacle, ahead int64) obstacle {
	out := obstacle{Code: o.GetCode(), Until: moment(o.GetUntil()), Text: o.GetText()}
	if hiddenParent(o) {
		out.Text = v.ofParent(o)
		return out
	}
	switch o.GetCode() {
	case "not_due":
		out.Text = v.T("The job is not due until %s.", v.clock(out.Until))
		if job.GetFailures() > 0 {
			out.Text = v.T("The last attempt failed. The job is backing off until %s.", v.clock(out.Until))
		}
		out.Acts = v.jobActs(job, "run", "RunJob", v.T("Run now"))
	case "queued":
		out.Text = v.T("The job is waiting for an earlier run of its schedule to finish.")
		if job.GetScheduleId() != 0 {
			out.Links = append(out.Links, link{v.T("Jobs of the schedule"), v.Href("/jobs", "schedule", job.GetScheduleId())})
		}
	case "at_gate":
		v.atGate(job, o, &out)
	case "paused":
		v.paused(o, &out)
	case "no_node":
		out.Text = v.T("No live node that accepts jobs serves queue %q and handles kind %q.", job.GetQueue(), job.GetKind())
		out.Remedy = v.T("Start a node or worker that handles this kind in this queue, or resume a draining node.")
		out.Links, out.Acts = v.forAll(link{v.T("Nodes"), v.Href("/nodes")}), v.jobActs(job, "move", "MoveJob", v.T("Move"))
	case "at_cap":
		out.Text = v.T("%s: %s of %s slots are taken.", v.owner(o), v.Num(o.GetUsed()), v.Num(o.GetCap()))
		v.limited(o, &out, v.T("Raise the cap"))
	case "over_rate":
		out.Text = v.T("%s: no more jobs can start at this rate until %s.", v.owner(o), v.clock(out.Until))
		v.limited(o, &out, v.T("Raise the rate"))
	case "no_slot":
		out.Text = v.T("All slots on eligible nodes are busy.")
		out.Remedy, out.Links = v.T("The job will start when a slot is free. To start it sooner, add nodes or slots."), v.forAll(link{v.T("Nodes"), v.Href("/nodes")})
	case "suspect":
		out.Text = v.T("Nodes died %s times while running this job, so it does not run at the same time as other crash suspects.", v.Num(job.GetCrashes()))
	case "in_line":
		out.Text = v.goFirst(ahead)
		out.Remedy, out.Acts = v.T("A higher priority moves it ahead."), v.jobActs(job, "priority", "SetJobPriority", v.T("Priority"))
	}
	return out
}

// mostAhead limits the number of jobs counted ahead of another.
const mostAhead = 10_000

func (v *visit) goFirst(ahead int64) string {
	switch {
	case v.Bound() && ahead == 0: // the API counts only the jobs of the tenant
		return v.T("Jobs of other tenants are ahead.")
	case v.Bound() && ahead < mostAhead:
		return v.N(ahead, "%s job of the same tenant is ahead.", "%s jobs of the same tenant are ahead.")
	case ahead >= mostAhead:
		return v.T("At least %s jobs are ahead.", v.Num(ahead))
	}
	return v.N(ahead, "%s job is ahead.", "%s jobs are ahead.")
}

func (v *visit) atGate(job *fairleadv1.Job, o *fairleadv1.Obstacle, out *obstacle) {
	out.Text = v.T("Concurrency key %q: %s of %s slots are taken.", o.GetName(), v.Num(o.GetUsed()), v.Num(o.GetCap()))
	out.Remedy, out.Acts = v.T("The job continues when one of these jobs finishes. The limit of the kind can allow more at once."), v.limitActs("kind", job.GetKind(), v.T("Allow more"))
	for _, id := range o.GetBy() {
		out.Links = append(out.Links, link{v.T("Job %s", text(id)), v.To("/jobs", id)})
	}
}

func (v *visit) paused(o *fairleadv1.Obstacle, out *obstacle) {
	list, method := "", ""
	switch o.GetScope() {
	case "queue":
		out.Text, list, method = v.T("Queue %q is paused.", o.GetName()), "/queues", "ResumeQueue"
	case "tenant":
		out.Text, list, method = v.T("Tenant %q is paused.", o.GetName()), "/tenants", "ResumeTenant"
	case "kind":
		out.Text, list, method = v.T("Kind %q is paused.", o.GetName()), "/kinds", "ResumeKind"
	}
	out.Reason, out.Links = o.GetReason(), v.ownerLinks(o)
	if v.Unbound() && v.May(method) {
		out.Remedy, out.Acts = v.T("The job can start after you resume it."), []act{v.resumeAct(method, list, o.GetName())}
	}
}

// limited adds the place where a limit is set and the button that raises it.
func (v *visit) limited(o *fairleadv1.Obstacle, out *obstacle, label string) {
	out.Links = v.ownerLinks(o)
	if v.Unbound() && v.May("SetLimit") {
		out.Remedy, out.Acts = v.T("You can change the limit; its form previews the effect."), v.limitActs(o.GetScope(), o.GetName(), label)
	}
}

// jobActs returns the button of an action on a job, or nothing for a job that is not stored.
func (v *visit) jobActs(job *fairleadv1.Job, name, method, label string) []act {
	if job.GetId() == 0 {
		return nil
	}
	return []act{{Method: method, Href: v.To("/jobs", job.GetId()) + "/" + name, Label: label}}
}

// hiddenParent reports whether an obstacle belongs to a parent tenant that is not visible
// to the viewer.
func hiddenParent(o *fairleadv1.Obstacle) bool { return o.GetScope() == "tenant" && o.GetName() == "" }

// ofParent describes an obstacle without naming the parent.
func (v *visit) ofParent(o *fairleadv1.Obstacle) string {
	switch o.GetCode() {
	case "paused":
		return v.T("The parent tenant is paused.")
	case "over_rate":
		return v.T("The parent tenant has reached its start rate.")
	}
	return v.T("The parent tenant is at its cap.")
}

// owner names the object whose limit keeps a job from starting.
func (v *visit) owner(o *fairleadv1.Obstacle) string {
	switch o.GetScope() {
	case "queue":
		return v.T("Queue %q", o.GetName())
	case "tenant":
		if hiddenParent(o) {
			return v.T("The parent tenant")
		}
		return v.T("Tenant %q", o.GetName())
	case "kind":
		return v.T("Kind %q", o.GetName())
	}
	return v.T("The cluster")
}

// ownerLinks returns links to a queue, a tenant or the limits.
func (v *visit) ownerLinks(o *fairleadv1.Obstacle) []link {
	switch o.GetScope() {
	case "queue":
		return v.forAll(link{v.owner(o), v.Href("/jobs", "queue", o.GetName())})
	case "tenant":
		return []link{{v.owner(o), v.To("/tenants", o.GetName())}}
	}
	return v.forAll(link{v.T("Limits"), v.Href("/tenants") + "#limits"})
}

// forAll returns links that only viewers not bound to tenants may see.
func (v *visit) forAll(links ...link) []link {
	if v.Bound() {
		return nil
	}
	return links
}
