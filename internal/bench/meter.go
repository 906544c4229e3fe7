package bench

import (
	"context"
	"runtime"
	"time"
)

// use contains the resources used in a measured period.
type use struct {
	elapsed time.Duration
	client  time.Duration // CPU time
	server  time.Duration // CPU time
	wal     int64         // bytes

	statements int64
}

// meter measures the resources between its start and its stop.
type meter struct {
	ctx    context.Context // outlives the measured work, because the meter is stopped after it
	server Server
	client func() (time.Duration, error) // CPU time so far
	began  time.Time
	before time.Duration // CPU time of the client at the start
	usage  Usage
}

// startMeter starts a meter with the Bench's own client, if it has one.
func (b Bench) startMeter(ctx context.Context) (*meter, error) {
	if b.Client == nil {
		return startMeter(ctx, b.Server)
	}
	return startMeterOf(ctx, b.Server, b.Client)
}

// startMeter starts a meter with this process as the client.
func startMeter(ctx context.Context, server Server) (*meter, error) {
	return startMeterOf(ctx, server, func() (time.Duration, error) { return ProcessTime(), nil })
}

// startMeterOf starts a meter. It first collects garbage from the preparations, which does
// not belong to the workload.
func startMeterOf(ctx context.Context, server Server, client func() (time.Duration, error)) (*meter, error) {
	runtime.GC()
	m := &meter{ctx: context.WithoutCancel(ctx), server: server, client: client}
	var err error
	if m.usage, err = server.Usage(m.ctx); err != nil {
		return nil, err
	}
	if m.before, err = client(); err != nil {
		return nil, err
	}
	m.began = time.Now()
	return m, nil
}

func (m *meter) stop() (use, error) {
	u := use{elapsed: time.Since(m.began)}
	after, err := m.client()
	if err != nil {
		return use{}, err
	}
	u.client = after - m.before
	usage, err := m.server.Usage(m.ctx)
	if err != nil {
		return use{}, err
	}
	u.server, u.wal = usage.CPU-m.usage.CPU, usage.WAL-m.usage.WAL
	u.statements = usage.Statements - m.usage.Statements
	return u, nil
}
