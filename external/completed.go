package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// completion is what the address of a batch gets.
type completion struct {
	ID         string      `json:"id"` // the same however often it is told
	Event      string      `json:"event"`
	BatchID    string      `json:"batch_id"`
	BatchName  string      `json:"batch_name"`
	BatchType  string      `json:"batch_type"`
	Tenant     string      `json:"tenant"`
	Completion int         `json:"completion"`
	State      batch.State `json:"state"`
	Tally      batch.Tally `json:"tally"`
	EndedAt    string      `json:"ended_at"`
}

// completed tells the address of a batch that it has completed.
func (c *Courier) completed(ctx context.Context, job *fairlead.Job) error {
	var told batch.Completion
	if err := json.Unmarshal(job.Args, &told); err != nil {
		return fairlead.Fatal(fmt.Errorf("args: %w", err))
	}
	b, err := c.batches.Get(ctx, told.Batch)
	if errors.Is(err, fairlead.ErrNotFound) {
		return fairlead.Fatal(err)
	}
	if err != nil {
		return err
	}
	if b.Tenant != job.Tenant || b.Notify != told.URL || told.Number < 1 || told.Number > b.Completions || told.ID != batch.CompletionID(b.ID, told.Number) {
		// A program with a Client may enqueue such a job; only a batch may speak in our name.
		return fairlead.Fatal(fmt.Errorf("batch %d has told nobody of this", b.ID))
	}
	if told.Number == b.Completions && !b.EndedAt.IsZero() {
		// It has not been opened again: what the store knows counts.
		told.State, told.Tally, told.EndedAt = b.State(), b.Tally, b.EndedAt
	}
	key, err := c.client.SigningKey(ctx, b.Tenant)
	if err != nil {
		return err
	}
	return c.postAs(ctx, told.ID, recipient{key: key}, told.URL, job, "fairlead-"+told.ID, completion{
		ID: told.ID, Event: "batch_completed", BatchID: strconv.FormatInt(b.ID, 10), BatchName: b.Name, BatchType: b.Type, Tenant: b.Tenant,
		Completion: told.Number, State: told.State, Tally: told.Tally, EndedAt: timeText(told.EndedAt),
	})
}
