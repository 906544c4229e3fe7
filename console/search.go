package console

import (
	"strconv"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// search is the progress of a search without results so far. The page continues it.
type search struct {
	Newest, To int64 // IDs of the newest job and of the oldest one that was searched
	Next       string
}

// searchOn returns the progress of a search and the link that continues it.
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

// Searched returns a progress bar of the searched IDs.
func (v *visit) Searched(s *search) map[string]any {
	part, whole := float64(s.Newest-s.To), float64(s.Newest)
	return bar(part, whole, v.T("%s of all jobs searched", strconv.FormatFloat(100*part/max(whole, 1), 'f', 0, 64)+" %"))
}
