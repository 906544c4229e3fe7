package console

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// mostCompared limits the number of newer jobs that are compared with a job.
const mostCompared = 100

// overtakenBy returns how many newer jobs of the same queue started before a job because of
// their priority or start-by time. It examines only the last ones that were created while the
// job waited, and only those visible to the viewer.
func (v *visit) overtakenBy(job *fairleadv1.Job, w *waited) (jobs int, err error) {
	if !w.inLine() {
		return 0, nil
	}
	until := w.all[len(w.all)-1].To
	list, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{
		Queue: []string{job.GetQueue()}, From: job.GetCreatedAt(), To: timestamppb.New(until), PageSize: mostCompared,
	})
	for _, other := range list.GetItems() {
		started := moment(other.GetStartedAt())
		if other.GetId() > job.GetId() && goesFirst(other, job) && !started.IsZero() && started.Before(until) {
			jobs++
		}
	}
	return jobs, err
}

// goesFirst reports whether a job starts before another if both are ready.
func goesFirst(a, b *fairleadv1.Job) bool {
	if a.GetPriority() != b.GetPriority() {
		return a.GetPriority() > b.GetPriority()
	}
	return moment(a.GetStartBy()).Before(moment(b.GetStartBy()))
}

// inLine reports whether other jobs went first for a noticeable time.
func (w *waited) inLine() bool {
	for _, share := range w.Shares {
		if share.Code == "in_line" {
			return share.Length >= noticed
		}
	}
	return false
}
