package batch

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// explainChunks bounds in how many chunks jobs to explain are looked for.
const explainChunks = 5

// Explain reports a batch's status, the reasons why the batch is stopped or slow, and why
// its tasks' jobs are not running. It returns ErrNotFound if the batch does not exist.
func (c *Client) Explain(ctx context.Context, id int64) (fairlead.Situation, error) {
	record, err := c.record(ctx, id)
	if err != nil {
		return fairlead.Situation{}, err
	}
	now, err := c.store.Now(ctx)
	if err != nil {
		return fairlead.Situation{}, err
	}
	s := fairlead.Situation{ID: id, Name: record.Name, State: string(record.State()), At: now, Reasons: record.reasons(now)}
	s.Jobs, err = c.explainJobs(ctx, id)
	return s, err
}

// reasons are what keeps the batch from going on, or from going faster, by how it was
// left.
func (r *Record) reasons(now time.Time) []fairlead.Obstacle {
	var found []fairlead.Obstacle
	add := func(o fairlead.Obstacle, format string, args ...any) {
		o.Text = fmt.Sprintf(format, args...)
		found = append(found, o)
	}
	if r.Doubtful > 0 {
		add(fairlead.Obstacle{Code: fairlead.IsDoubtful}, "%d tasks may have run even though the database lost the record: a rollback may restore the wrong state", r.Doubtful)
	}
	if !r.EndedAt.IsZero() {
		add(fairlead.Obstacle{Code: fairlead.HasEnded}, "it completed at %s", r.EndedAt.UTC().Format(time.RFC3339))
		return found
	}
	if r.Paused {
		add(fairlead.Obstacle{Code: fairlead.IsPaused}, "it is paused%s", because(r.Reason))
	}
	if r.dropped() {
		add(fairlead.Obstacle{Code: fairlead.IsStopped}, "no more tasks will be released%s; %d released tasks have not ended", because(r.Reason), r.Out)
	}
	for _, wanted := range r.Wanted {
		add(fairlead.Obstacle{Code: fairlead.NotPrepared}, "a %s pass was requested and is being prepared", wanted.Kind)
	}
	switch {
	case r.awaitsApproval():
		add(fairlead.Obstacle{Code: fairlead.AtApproval}, "the first %d tasks have ended; the other %d are waiting for approval", r.Canary.Tasks, r.Held)
	case r.behindCanary():
		add(fairlead.Obstacle{Code: fairlead.AtApproval}, "%d tasks are waiting for the first %d to end", r.Held, r.Canary.Tasks)
	default:
		found = append(found, r.paced(now)...)
	}
	return found
}

// behindCanary reports whether tasks wait for the first ones to end.
func (r *Record) behindCanary() bool {
	return r.Canary.Tasks > 0 && !r.Approved && !r.dropped() && r.canaryRoom() == 0 && r.Held > 0
}

// paced is what bounds how many tasks are released.
func (r *Record) paced(now time.Time) []fairlead.Obstacle {
	left := r.toRelease()
	if left == 0 || r.Paused {
		return nil
	}
	copied := *r
	c := &conducting{Record: &copied, now: now} // it only asks
	if c.room() > 0 {
		return nil // the next look releases some
	}
	if c.MaxRunning > 0 && c.Out >= c.MaxRunning {
		return []fairlead.Obstacle{{
			Code: fairlead.AtCap, Used: c.Out, Cap: c.MaxRunning,
			Text: fmt.Sprintf("%d of at most %d tasks are released; %d are waiting", c.Out, c.MaxRunning, left),
		}}
	}
	if c.done.Next > 0 {
		return []fairlead.Obstacle{{
			Code: fairlead.OverRate, Until: now.Add(c.done.Next),
			Text: fmt.Sprintf("it releases %v tasks per second; %d are waiting", c.Rate, left),
		}}
	}
	return []fairlead.Obstacle{{
		Code: fairlead.AtCap, Used: c.Out, Cap: c.ahead(),
		Text: fmt.Sprintf("%d released tasks have not ended; %d more follow as they end", c.Out, left),
	}}
}

// explainJobs explains some jobs of released tasks, at first those that do not run.
func (c *Client) explainJobs(ctx context.Context, id int64) ([]fairlead.Explanation, error) {
	chunks, err := c.store.Chunks(ctx, id, ChunkFilter{Out: true, Limit: explainChunks})
	if err != nil {
		return nil, err
	}
	var out []int64
	for i := range chunks {
		for n, mark := range chunks[i].States {
			if mark == MarkOut {
				out = append(out, chunks[i].First+int64(n))
			}
		}
	}
	jobs, err := paged.Bare(ctx, c.store, out)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	var idle, running []int64
	for i := len(jobs) - 1; i >= 0; i-- { // those that were released first
		switch job := jobs[i]; {
		case job.State.Final():
		case job.State == fairlead.Running:
			running = append(running, job.ID)
		default:
			idle = append(idle, job.ID)
		}
	}
	return fairlead.ExplainSome(ctx, c.store.Explain, append(idle, running...))
}

// because is a reason behind what it is the reason of.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
