package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

// waiting holds the flags for waiting until jobs end.
type waiting struct {
	limit time.Duration // 0 = unlimited
}

func (w *waiting) flag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.limit, "wait", 0, "wait for the work to end; --wait=DURATION limits the waiting time (default: do not wait)")
	cmd.Flags().Lookup("wait").NoOptDefVal = "0s"
}

func (w *waiting) asked(cmd *cobra.Command) bool { return cmd.Flags().Changed("wait") }

// within returns a context limited by the maximum wait.
func (w *waiting) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.limit > 0 {
		return context.WithTimeout(ctx, w.limit)
	}
	return context.WithCancel(ctx)
}

// all waits for jobs in order and shows how each ended. It returns the error of the first
// job that did not succeed.
func (w *waiting) all(ctx context.Context, c *call, ids []int64) error {
	within, cancel := w.within(ctx)
	defer cancel()
	var failed error
	for i, id := range ids {
		job, err := c.await(within, id, fmt.Sprintf("%d of %d", i+1, len(ids)))
		switch {
		case err != nil && ctx.Err() != nil:
			return failf(ExitFailure, "interrupted; job %d continues; follow it with fairlead job watch %d", id, id)
		case err != nil && within.Err() != nil:
			return failf(ExitFailure, "job %d did not end within %s and continues; follow it with fairlead job watch %d", id, w.limit, id)
		case err != nil:
			return err
		}
		text := fmt.Sprintf("job %d %s", id, job.GetState())
		if len(job.GetOutput()) > 0 {
			text += ": " + string(job.GetOutput())
		}
		if err := c.say(job, "%s", text); err != nil {
			return err
		}
		if failed == nil {
			failed = ended(job)
		}
	}
	return failed
}

var spokes = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// await follows a job and, on a terminal, shows its progress.
func (c *call) await(ctx context.Context, id int64, which string) (*fairleadv1.Job, error) {
	if !c.errors.Terminal {
		return c.follow(ctx, id, func(*fairleadv1.Job) error { return nil })
	}
	news, done := make(chan *fairleadv1.Job), make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		c.spin(id, which, news)
	}()
	job, err := c.follow(ctx, id, func(job *fairleadv1.Job) error {
		select {
		case news <- job:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	cancel()
	close(news)
	<-done
	return job, err
}

// spin draws a progress line until there is no more news.
func (c *call) spin(id int64, which string, news <-chan *fairleadv1.Job) {
	began := time.Now()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	job := &fairleadv1.Job{Id: id}
	for turn := 0; ; turn++ {
		select {
		case next, more := <-news:
			if !more {
				fmt.Fprint(c.errors.Out, "\r\x1b[K")
				return
			}
			job = next
		case <-ticker.C:
		}
		line := fmt.Sprintf("%c job %d (%s)  %s%s  %s", spokes[turn%len(spokes)], id, which, job.GetState(), shownProgress(job), screen.Span(time.Since(began)))
		if c.errors.Width > 0 {
			line = screen.Cut(line, c.errors.Width-1)
		}
		fmt.Fprint(c.errors.Out, "\r\x1b[K"+line)
	}
}

// shownProgress returns a bar if the job's progress has the form {"done":…,"total":…},
// and otherwise the progress itself.
func shownProgress(job *fairleadv1.Job) string {
	var p struct {
		Done, Total float64
	}
	raw := job.GetProgress()
	if err := json.Unmarshal(raw, &p); err == nil && p.Total > 0 {
		const width = 20
		share := max(min(p.Done/p.Total, 1), 0)
		return fmt.Sprintf("  %s %.0f%%", screen.Bar(int(share*1000), 1000, width), share*100)
	}
	return screen.Clean(watched(job))
}
