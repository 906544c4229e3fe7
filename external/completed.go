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

// completion is the message sent to the notification URL of a batch.
type completion struct {
	ID         string      `json:"id"` // the same on every delivery
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

// completed notifies the URL of a batch that the batch has completed.
func (c *Courier) completed(ctx context.Context, job *fairlead.Job) error {
	var message batch.Completion
	if err := json.Unmarshal(job.Args, &message); err != nil {
		return fairlead.Fatal(fmt.Errorf("args: %w", err))
	}
	b, err := c.batches.Get(ctx, message.Batch)
	if errors.Is(err, fairlead.ErrNotFound) {
		return fairlead.Fatal(err)
	}
	if err != nil {
		return err
	}
	if b.Tenant != job.Tenant || b.Notify != message.URL || message.Number < 1 || message.Number > b.Completions || message.ID != batch.CompletionID(b.ID, message.Number) {
		// A program with a Client may enqueue such a job, but only a batch may send messages in
		// the service's name.
		return fairlead.Fatal(fmt.Errorf("batch %d did not send this message", b.ID))
	}
	if message.Number == b.Completions && !b.EndedAt.IsZero() {
		// The batch was not reopened, so the stored state counts.
		message.State, message.Tally, message.EndedAt = b.State(), b.Tally, b.EndedAt
	}
	key, err := c.client.SigningKey(ctx, b.Tenant)
	if err != nil {
		return err
	}
	return c.postAs(ctx, message.ID, recipient{key: key}, message.URL, job, "fairlead-"+message.ID, completion{
		ID: message.ID, Event: "batch_completed", BatchID: strconv.FormatInt(b.ID, 10), BatchName: b.Name, BatchType: b.Type, Tenant: b.Tenant,
		Completion: message.Number, State: message.State, Tally: message.Tally, EndedAt: timeText(message.EndedAt),
	})
}
