package engine

import (
	"context"
	"time"
)

const (
	// reportEvery is how often a node reports what it has started: often enough for
	// Usage to show the last minute.
	reportEvery = 5 * time.Second
	// missedPause is how soon it reports that jobs started too late, for alerts: a node
	// that dies takes with it what it has not reported.
	missedPause = time.Second
)

// keepReporting reports what was started, the last of it when the node has stopped
// claiming.
func (l *life) keepReporting(ctx context.Context) {
	var rested time.Time
	l.reporter.run(ctx, func(ctx context.Context) (time.Duration, error) {
		if err := sleep(ctx, time.Until(rested)); err != nil {
			return 0, err
		}
		rested = time.Now().Add(missedPause)
		return 0, l.reportStarts(ctx)
	})
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.options.Beat)
	defer cancel()
	if err := l.reportStarts(last); err != nil {
		l.log.Warn("cannot report the latest starts", "error", err)
	}
}

func (l *life) reportStarts(ctx context.Context) error {
	taken := l.starts.Take()
	err := l.store.Report(ctx, taken)
	if err != nil {
		l.starts.GiveBack(taken)
	}
	return err
}
