package sim

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead/sweep"
)

// Retried contains information about a sweep with retried items.
type Retried struct {
	Before sweep.Sweep // state when it had first finished
	Kills  int         // number of kills during the retry
}

// failAtFirst is the data of a sweep in which a third of the items fail.
const failAtFirst = `"fail"`

// firstData returns the initial data for handlers.
func (d *sweepDriver) firstData() json.RawMessage {
	if d.RetryRate == 0 {
		return nil
	}
	return json.RawMessage(failAtFirst)
}

// retry starts the retry of the failed items of a finished sweep. It reports whether the
// sweep has ended for good.
func (d *sweepDriver) retry(ctx context.Context) (over bool, err error) {
	switch done := d.record.Retried; {
	case d.RetryRate == 0:
		return true, nil
	case done != nil:
		done.Kills = d.record.Kills - done.Kills
		return true, nil
	}
	before := d.record.Sweep
	d.record.Retried = &Retried{Before: before, Kills: d.record.Kills}
	slower := before
	slower.Rate = d.RetryRate
	if _, err := d.client.Put(ctx, slower); err != nil {
		return false, err
	}
	if _, err := d.client.SetData(ctx, before.ID, "sim", json.RawMessage(`"pass"`)); err != nil {
		return false, err
	}
	_, err = d.client.Retry(ctx, before.ID, "sim")
	return false, err
}

// failed reads all failed items.
func (d *sweepDriver) failed(ctx context.Context) ([]int64, error) {
	var indexes []int64
	for filter := (sweep.ItemFilter{Sweep: d.record.Sweep.ID, Limit: 1000}); ; filter.From = true {
		page, err := d.client.FailedItems(ctx, filter)
		if err != nil || len(page) == 0 {
			return indexes, err
		}
		for _, item := range page {
			indexes = append(indexes, item.Index)
		}
		filter.After = indexes[len(indexes)-1]
	}
}
