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

// uneven is a store in which the newest jobs are large and all others small.
type uneven struct{ Store }

func (uneven) FindPage(_ context.Context, filter fairlead.Filter) (page fairlead.Page, err error) {
	id := filter.Below - 1
	if filter.Below == 0 {
		id = 1000
	}
	for ; len(page.Jobs) < filter.Limit; id-- {
		job := &fairlead.Job{ID: id}
		if id > 1000-firstLook {
			job.Args = make([]byte, 100<<10)
		}
		page.Jobs = append(page.Jobs, job)
	}
	page.Next = id + 1
	return page, nil
}

func TestAPageIsFullIfItsJobsFit(t *testing.T) {
	page, err := findPage(t.Context(), fairlead.NewClient(uneven{}), fairlead.Filter{Limit: 200})
	if err != nil || len(page.Jobs) != 200 || page.Next != page.Jobs[199].ID {
		t.Errorf("the page has %d jobs, and the next begins below %d: %v", len(page.Jobs), page.Next, err)
	}
}
