package console

import (
	"strconv"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// search is how far a list has been searched that has found nothing so far. The page goes on by
// itself.
type search struct {
	Newest, To int64 // ids: jobs down to To were searched
	Next       string
}

// searchOn says how far a page has come, and where the search continues.
func (v *visit) searchOn(page foundJobs, next string) (*search, error) {
	newest, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{PageSize: 1})
	if err != nil {
		return nil, err
	}
	s := &search{Newest: page.searched, To: page.searched, Next: next}
	for _, job := range newest.GetItems() {
		s.Newest = max(s.Newest, job.GetId())
	}
	return s, nil
}

// Searched is the part of all ids that was searched.
func (v *visit) Searched(s *search) map[string]any {
	part, whole := float64(s.Newest-s.To), float64(s.Newest)
	return bar(part, whole, v.T("%s of all jobs searched", strconv.FormatFloat(100*part/max(whole, 1), 'f', 0, 64)+" %"))
}
