package server

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// sparse is a store in which few of very many jobs match: each look goes through a
// thousand ids, and the job with the smallest id is the only one.
type sparse struct {
	Store
	looks int
}

func (s *sparse) FindPage(_ context.Context, filter fairlead.Filter) (fairlead.Page, error) {
	s.looks++
	below := filter.Below
	if below == 0 {
		below = 10_000
	}
	if below <= 1000 {
		return fairlead.Page{Jobs: []*fairlead.Job{{ID: 1}}}, nil
	}
	return fairlead.Page{Next: below - 1000}, nil
}

// A page that is hard to fill ends after a bounded number of looks, also if it is empty,
// and following the pages finds what there is.
func TestAPageOfFewMatchesEndsEarly(t *testing.T) {
	store := &sparse{}
	client := fairlead.NewClient(store)
	var found []*fairlead.Job
	pages, filter := 0, fairlead.Filter{Limit: 100}
	for more := true; more; more = filter.Below > 0 {
		before := store.looks
		page, err := findPage(t.Context(), client, filter)
		if err != nil {
			t.Fatal(err)
		}
		if looks := store.looks - before; looks > shortLooks {
			t.Errorf("a page took %d looks", looks)
		}
		found = append(found, page.Jobs...)
		filter.Below = page.Next
		pages++
	}
	if len(found) != 1 || pages != 5 {
		t.Errorf("%d jobs were found on %d pages", len(found), pages)
	}
}
