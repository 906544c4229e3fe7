package bench

import (
	"context"
	"runtime"
	"time"
)

// use is what a measured stretch took.
type use struct {
	elapsed time.Duration
	client  time.Duration // CPU time
	server  time.Duration // CPU time
	wal     int64         // bytes

	statements int64
}

// meter measures from its start to its stop.
type meter struct {
	ctx    context.Context // outlives the measured work, whose end is measured too
	server Server
	began  time.Time
	client time.Duration
	usage  Usage
}

// startMeter begins. Garbage of the preparations is collected first: it is
// not the workload's.
func startMeter(ctx context.Context, server Server) (*meter, error) {
	runtime.GC()
	m := &meter{ctx: context.WithoutCancel(ctx), server: server}
	var err error
	if m.usage, err = server.Usage(m.ctx); err != nil {
		return nil, err
	}
	m.client = ProcessTime()
	m.began = time.Now()
	return m, nil
}

func (m *meter) stop() (use, error) {
	u := use{elapsed: time.Since(m.began), client: ProcessTime() - m.client}
	usage, err := m.server.Usage(m.ctx)
	if err != nil {
		return use{}, err
	}
	u.server, u.wal = usage.CPU-m.usage.CPU, usage.WAL-m.usage.WAL
	u.statements = usage.Statements - m.usage.Statements
	return u, nil
}
