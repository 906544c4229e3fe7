package console

import (
	"slices"

	"connectrpc.com/connect"
	"golang.org/x/sync/errgroup"
)

const (
	findShown = 20   // maximum number of search results
	findRows  = 5    // maximum number of jobs with the same key, and of batches with the same name
	findAmong = 1000 // number of names that are compared, per type
)

// finding collects the hits of one search.
type finding struct {
	query string
	hits  []hit
}

// exactly adds an object that the API found by its ID, name or key.
func (f *finding) exactly(title, what, href string) {
	f.hits = append(f.hits, hit{Title: title, What: what, Href: href, rank: rankExact})
}

// named adds an object if its name matches the query.
func (f *finding) named(name, what, href string) {
	if rank := rankOf(name, f.query); rank != rankNone {
		f.hits = append(f.hits, hit{Title: name, What: what, Href: href, rank: rank})
	}
}

// finders search for objects. Hits of the same rank are listed in this order.
var finders = []func(v *visit, f *finding) error{
	findJobs, findPages, findKinds, findQueues, findTenants, findSchedules, findBatches, findSweeps, findCalendars, findNodes, findLimits,
}

// findPages finds pages by their title.
func findPages(v *visit, f *finding) error {
	for _, page := range v.Pages() {
		f.named(page.Title, page.What, page.Href)
	}
	return nil
}

// search returns the best hits, or all pages if the query is empty.
func (v *visit) search(query string) ([]hit, error) {
	if query == "" {
		return v.Pages(), nil
	}
	findings := make([]finding, len(finders))
	var group errgroup.Group
	group.SetLimit(runsAtOnce)
	for i, find := range finders {
		findings[i].query = query
		group.Go(func() error { return find(v, &findings[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var hits []hit
	seen := map[string]bool{}
	for _, f := range findings {
		for _, h := range f.hits {
			if !seen[h.Href] {
				hits, seen[h.Href] = append(hits, h), true
			}
		}
	}
	slices.SortStableFunc(hits, compareHits)
	return hits[:min(len(hits), findShown)], nil
}

// found returns the error of a search, or nil if the object does not exist, is not visible
// to the viewer, or cannot have such a name.
func found(err error) error {
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodePermissionDenied, connect.CodeInvalidArgument:
		return nil
	}
	return err
}
