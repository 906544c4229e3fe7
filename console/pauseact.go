package console

import (
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var pauseActions = []action{
	{name: "pause", path: "/queues/{name}/pause", Title: "Pause queue", Nav: "queues", method: "PauseQueue", load: loadPause, do: pauseQueue},
	{name: "resume", path: "/queues/{name}/resume", Title: "Resume queue", Nav: "queues", method: "ResumeQueue", load: loadPause, do: resumeQueue},
	{name: "pause", path: "/kinds/{name}/pause", Title: "Pause kind", Nav: "queues", method: "PauseKind", load: loadPause, do: pauseKind},
	{name: "resume", path: "/kinds/{name}/resume", Title: "Resume kind", Nav: "queues", method: "ResumeKind", load: loadPause, do: resumeKind},
	{name: "pause", path: "/tenants/{name}/pause", Title: "Pause tenant", Nav: "tenants", method: "PauseTenant", load: loadPause, do: pauseTenant},
	{name: "resume", path: "/tenants/{name}/resume", Title: "Resume tenant", Nav: "tenants", method: "ResumeTenant", load: loadPause, do: resumeTenant},
}

// pauseForm contains the object to pause or resume, and the number of affected jobs.
type pauseForm struct {
	Name           string
	Ready, Running count
}

// loadPause counts the jobs of the queue, kind or tenant in the path.
func loadPause(v *visit) (any, error) {
	what, name := pausedOf(v)
	form := &pauseForm{Name: name}
	for state, into := range map[string]*count{"ready": &form.Ready, "running": &form.Running} {
		ask := &fairleadv1.CountJobsRequest{State: []string{state}}
		switch what {
		case "queue":
			ask.Queue = []string{name}
		case "kind":
			ask.Kind = []string{name}
		case "tenant":
			ask.Tenant = []string{name}
		}
		found, err := v.jobs.CountJobs(v.ctx, ask)
		if err != nil {
			return nil, err
		}
		*into = count{N: int64(found.GetTotal()), More: found.GetMore(), Href: v.Href("/jobs", "state", state, what, name)}
	}
	return form, nil
}

// pausedOf returns the object in the path: "queue", "kind" or "tenant", and its name.
func pausedOf(v *visit) (what, name string) {
	plural, _, _ := strings.Cut(strings.TrimPrefix(v.Path, "/"), "/")
	return strings.TrimSuffix(plural, "s"), v.Value("name")
}

func pauseQueue(v *visit) (done, error) {
	_, err := v.queues.PauseQueue(v.ctx, &fairleadv1.QueueRequest{Name: v.Value("name"), Reason: v.fields().text("reason")})
	return done{Notice: v.T("Queue %s was paused.", v.Value("name"))}, err
}

func resumeQueue(v *visit) (done, error) {
	_, err := v.queues.ResumeQueue(v.ctx, &fairleadv1.QueueRequest{Name: v.Value("name")})
	return done{Notice: v.T("Queue %s was resumed.", v.Value("name"))}, err
}

func pauseKind(v *visit) (done, error) {
	_, err := v.kinds.PauseKind(v.ctx, &fairleadv1.KindRequest{Name: v.Value("name"), Reason: v.fields().text("reason")})
	return done{Notice: v.T("Kind %s was paused.", v.Value("name"))}, err
}

func resumeKind(v *visit) (done, error) {
	_, err := v.kinds.ResumeKind(v.ctx, &fairleadv1.KindRequest{Name: v.Value("name")})
	return done{Notice: v.T("Kind %s was resumed.", v.Value("name"))}, err
}

func pauseTenant(v *visit) (done, error) {
	_, err := v.tenants.PauseTenant(v.ctx, &fairleadv1.PauseTenantRequest{Name: v.Value("name"), Reason: v.fields().text("reason")})
	return done{Notice: v.T("Tenant %s was paused.", v.Value("name"))}, err
}

func resumeTenant(v *visit) (done, error) {
	_, err := v.tenants.ResumeTenant(v.ctx, &fairleadv1.GetTenantRequest{Name: v.Value("name")})
	return done{Notice: v.T("Tenant %s was resumed.", v.Value("name"))}, err
}
