package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// Run shows a source until the user quits. A source that does not
// answer at the beginning is an error; later it is waited for.
func Run(ctx context.Context, source Source, every time.Duration, in io.Reader, out *screen.Screen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin, err := source.Look(ctx)
	if err != nil {
		return err
	}
	program := tea.NewProgram(NewModel(ctx, source, begin, every, out.Color), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out.Out), tea.WithoutSignalHandler())
	_, err = program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil // a signal is as good as q
	}
	return err
}

// Once writes a source as it is now.
func Once(ctx context.Context, source Source, out *screen.Screen) error {
	now, err := source.Look(ctx)
	if err != nil {
		return err
	}
	total := now.Total
	fmt.Fprintf(out.Out, "%s  scheduled %d  parked %d  ready %d  running %d  waiting %d  starts/s %.1f  oldest wait %s\n",
		screen.Clean(source.URL), total.GetScheduled(), total.GetParked(), total.GetReady(), total.GetRunning(), total.GetWaiting(),
		total.GetStarted(), span(total.GetOldestWait().AsDuration()))
	queues := out.Table("QUEUE", "READY", "RUNNING", "OLDEST WAIT", "PAUSED")
	for _, q := range now.Queues {
		queues.Add(q.GetName(), q.GetReady(), q.GetRunning()+q.GetWaiting(), q.GetOldestWait(), q.GetPaused())
	}
	tenants := out.Table("TENANT", "READY", "USED", "MAX RUNNING", "STARTS/S")
	for _, u := range now.Tenants {
		tenants.Add(u.GetTenant(), u.GetReady(), u.GetRunning()+u.GetWaiting(), screen.Limit(u.GetMaxRunning()), screen.Rate(u.GetStarted()))
	}
	nodes := out.Table("NODE", "NAME", "SLOTS", "IDLE", "LAST BEAT", "DRAINING", "DEAD")
	for _, n := range now.Nodes {
		nodes.Add(n.GetId(), n.GetName(), n.GetSlots(), n.GetIdleSlots(), n.GetLastBeat(), n.GetDraining(), n.GetDead())
	}
	failed := out.Table("FAILED JOB", "KIND", "TENANT", "ENDED", "ERROR")
	for _, job := range now.Failures[:min(len(now.Failures), 10)] {
		failed.Add(job.GetId(), job.GetKind(), job.GetTenant(), job.GetFinishedAt(), job.GetError())
	}
	for _, table := range []*screen.Table{queues, tenants, nodes, failed} {
		fmt.Fprintln(out.Out)
		if err := table.Write(); err != nil {
			return err
		}
	}
	return nil
}
