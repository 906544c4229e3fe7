package server

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// eraseBulks is the number of bulks that a call reads.
const eraseBulks = 100

// bulks deletes bulks that have ended and apply only to jobs of the tenant; with a key,
// only those with that key in the filter. Bulks contain their filter, the reason and the
// cause given by callers, and the reasons for unchanged jobs.
func (e *eraser) bulks(ctx context.Context, below int64) (next int64, err error) {
	client := bulk.NewClient(e.system.store)
	page, err := client.List(ctx, bulk.Filter{Tenants: e.tenants, Below: below, Limit: eraseBulks})
	if err != nil {
		return 0, err
	}
	for i := range page.Bulks {
		b := &page.Bulks[i]
		if !b.State.Final() || e.key != "" && b.Filter.Key != e.key {
			continue // reported by remains if it has not ended
		}
		if !e.dryRun {
			err := client.Delete(ctx, b.ID)
			if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
				continue // its job was retried, or it was deleted
			}
			if err != nil {
				return 0, err
			}
		}
		e.out.Bulks++
	}
	return page.Next, nil
}

// openBulks counts bulks of the tenant that have not ended.
func (e *eraser) openBulks(ctx context.Context) error {
	page, err := bulk.NewClient(e.system.store).List(ctx, bulk.Filter{Tenants: e.tenants, Limit: remainsAtMost})
	open := 0
	for i := range page.Bulks {
		if !page.Bulks[i].State.Final() {
			open++
		}
	}
	e.counted("open bulks", open, "they contain their filter, reason and cause; stop them or wait for their end, then erase again")
	return err
}
