package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) sweepWatchCommand() *cobra.Command {
	cmd := verb("watch NAME", "Show the progress of a sweep until it stops or finishes", s.onSweep(func(ctx context.Context, c *call, about *fairleadv1.GetSweepRequest) error {
		if c.errors.Terminal && c.format == "table" {
			return (&waiting{}).sweep(ctx, c, about.GetId())
		}
		sweep, err := c.followSweep(ctx, about.GetId(), func(sweep *fairleadv1.Sweep) error {
			return c.say(sweep, "%s  sweep %s  %s", c.Now().Format(time.TimeOnly), sweep.GetName(), sweepLine(sweep, c.Now()))
		})
		if err != nil {
			return err
		}
		return sweepEnded(sweep)
	}))
	cmd.Long = "Show the progress of a sweep until it stops or finishes. On a terminal the command draws a bar: █ is completed work, " +
		"▓ is work completed beyond the first unfinished item, and ░ is remaining work. Without a terminal it prints a line for each change."
	return cmd
}

func (c *call) followSweep(ctx context.Context, ref string, see func(*fairleadv1.Sweep) error) (*fairleadv1.Sweep, error) {
	return follow(ctx, c, func(ctx context.Context) (*rpc.Stream[*fairleadv1.Sweep], error) {
		return c.sweeps.WatchSweep(ctx, &fairleadv1.GetSweepRequest{Id: ref})
	}, func(sweep *fairleadv1.Sweep) bool {
		return sweep.GetState() == "stopped" || sweep.GetState() == "finished"
	}, see)
}

// sweepLine returns the progress of a sweep.
func sweepLine(s *fairleadv1.Sweep, now time.Time) string {
	p := s.GetProgress()
	over := p.GetDone() + p.GetAbandoned()
	text := fmt.Sprintf("%s  %d done", s.GetState(), p.GetDone())
	if total := p.GetTotal(); total > 0 {
		text = fmt.Sprintf("%s  %d of %d done", s.GetState(), p.GetDone(), total)
	}
	if n := p.GetInWindow(); n > 0 {
		text += fmt.Sprintf("  %d in window", n)
	}
	if total := p.GetTotal(); total > over {
		text += fmt.Sprintf("  %d remaining", total-over)
	}
	if n := p.GetAgain(); n > 0 {
		text += fmt.Sprintf("  %d to retry", n)
	}
	if s.GetState() == "running" && p.GetRate() > 0 {
		text += "  " + perSecond(p.GetRate())
	}
	if n := p.GetErrors(); n > 0 {
		text += fmt.Sprintf("  %d errors", n)
	}
	if n := p.GetAbandoned(); n > 0 {
		text += fmt.Sprintf("  %d failed", n)
	}
	if p.GetEta() != nil {
		text += "  " + screen.Span(max(p.GetEta().AsTime().Sub(now), 0)) + " left"
	}
	if reason := s.GetReason(); reason != "" {
		text += "  (" + reason + ")"
	}
	return screen.Clean(text)
}

// sweepBar returns the progress bar of a sweep.
func sweepBar(s *fairleadv1.Sweep, now time.Time) string {
	const width = 30
	p := s.GetProgress()
	share := ""
	if p.GetTotal() > 0 {
		share = fmt.Sprintf(" %.1f%%", 100*float64(p.GetDone()+p.GetAbandoned()-p.GetAgain())/float64(p.GetTotal()))
	}
	return screen.Clean(s.GetName()) + " " + threeBar(p.GetMarked(), p.GetInWindow(), p.GetTotal(), width) + share + " " + sweepLine(s, now)
}

// sweepEnded returns an error if a sweep was stopped.
func sweepEnded(s *fairleadv1.Sweep) error {
	if s.GetState() == "finished" {
		return nil
	}
	text := fmt.Sprintf("sweep %s is %s", s.GetName(), s.GetState())
	if reason := s.GetReason(); reason != "" {
		text += ": " + reason
	}
	return failf(ExitJobFailed, "%s; continue it with fairlead sweep start %s", screen.Clean(text), screen.Clean(s.GetName()))
}

// forSweep waits until a sweep is stopped or finished and, on a terminal, shows its
// progress.
func (w *waiting) forSweep(ctx context.Context, c *call, ref string) (*fairleadv1.Sweep, error) {
	within, cancel := w.within(ctx)
	defer cancel()
	sweep, err := c.awaitSweep(within, ref)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return nil, failf(ExitFailure, "sweep %s did not end within %s and continues; follow it with fairlead sweep watch %s", ref, w.limit, ref)
	}
	return sweep, err
}

// sweep works like forSweep and shows the result. It returns an error if the sweep was
// stopped.
func (w *waiting) sweep(ctx context.Context, c *call, ref string) error {
	sweep, err := w.forSweep(ctx, c, ref)
	if err != nil {
		return err
	}
	if err := c.say(sweep, "sweep %s  %s", sweep.GetName(), sweepLine(sweep, c.Now())); err != nil {
		return err
	}
	return sweepEnded(sweep)
}

// awaitSweep follows a sweep. On a terminal, it draws a progress bar. Elsewhere, it reports
// when the sweep waits to be opened.
func (c *call) awaitSweep(ctx context.Context, ref string) (*fairleadv1.Sweep, error) {
	if c.errors.Terminal {
		return drawWhile(c, func(s *fairleadv1.Sweep) string { return sweepBar(s, c.Now()) }, func(see func(*fairleadv1.Sweep) error) (*fairleadv1.Sweep, error) {
			return c.followSweep(ctx, ref, see)
		})
	}
	reported := false
	return c.followSweep(ctx, ref, func(sweep *fairleadv1.Sweep) error {
		if sweep.GetState() == "waiting" && !reported {
			fmt.Fprintf(c.errors.Out, "sweep %s is waiting for its gate: open it with fairlead sweep open\n", screen.Clean(sweep.GetName()))
			reported = true
		}
		return nil
	})
}
