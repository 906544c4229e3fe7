package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// CompletedKind is the kind of jobs that send completion messages.
const CompletedKind = reserved.Completed

// Completion holds the arguments of a job of kind CompletedKind.
type Completion struct {
	ID      string    `json:"id"`         // identifies the completion; the same each time the message is sent
	URL     string    `json:"url"`        // the batch's Notify
	Batch   int64     `json:"batch_id"`   // ID of the batch
	Number  int       `json:"completion"` // counted from 1; a reopened batch can complete again
	Name    string    `json:"batch_name"`
	Type    string    `json:"batch_type"`
	State   State     `json:"state"`    // state of the batch
	Tally   Tally     `json:"tally"`    // tasks by state
	EndedAt time.Time `json:"ended_at"` // time of the completion
}

// CompletionID returns the ID of a batch's completion, given the completion's number.
func CompletionID(batch int64, number int) string { return fmt.Sprintf("batch-%d-%d", batch, number) }

// thenChunk sets IDs aside for the jobs of one completion; nil: there are none.
func (b *Batch) thenChunk() *Chunk {
	n := len(b.Then)
	if b.Notify != "" {
		n++
	}
	if n == 0 {
		return nil
	}
	return &Chunk{Kind: PassThen, Size: n, Held: n, Marks: NewMarks(n), Tasks: make([]ChunkTask, n)}
}

// then makes the jobs of a completion.
func (c *conducting) then(ctx context.Context) error {
	chunks, err := c.tx.Chunks(ctx, ChunkFilter{Kind: PassThen, Held: true, Limit: 1})
	if err != nil || len(chunks) == 0 {
		return err
	}
	p := c.touch(&chunks[0])
	for i := range p.States {
		p.States[i] = MarkPassed
	}
	p.Held = 0
	jobs := make([]*fairlead.Job, 0, p.Size)
	for _, template := range c.Then {
		jobs = append(jobs, &template)
	}
	if c.Notify != "" {
		completion := Completion{
			ID: CompletionID(c.ID, c.Completions), URL: c.Notify, Batch: c.ID, Number: c.Completions,
			Name: c.Name, Type: c.Type, State: c.State(), Tally: c.Tally, EndedAt: c.EndedAt,
		}
		args, err := json.Marshal(completion)
		if err != nil {
			return err
		}
		jobs = append(jobs, &fairlead.Job{Kind: CompletedKind, Args: args, Queue: c.Queue, Tenant: c.Tenant})
	}
	for i, job := range jobs {
		job.ID, job.Batch = p.First+int64(i), 0
		c.jobs = append(c.jobs, job)
	}
	return nil
}
