package engine

import (
	"context"
	"time"
)

// reportEvery is how often a node reports what it has started: often enough for
// Usage to show the last minute.
const reportEvery = 5 * time.Second

// keepReporting reports what was started.
func (l *life) keepReporting(ctx context.Context) {
	reporter := newLoop("report", reportEvery, l.log)
	reporter.run(ctx, func(ctx context.Context) (time.Duration, error) {
		taken := l.starts.Take()
		err := l.store.Report(ctx, taken)
		if err != nil {
			l.starts.GiveBack(taken)
		}
		return 0, err
	})
}
