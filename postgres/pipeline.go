package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// pipeline is a sqlstore.DB: it sends statements together, with what begins a transaction
// before the first of them and what ends it behind the last.
type pipeline struct {
	send       func(ctx context.Context, calls ...call) error // in one round trip
	sendAll    func(ctx context.Context, calls ...call) error // the same, if these are all there are
	begin, end []call
	begun      bool
	queue      []call
	later      bool // nodes are to be woken
}

// do runs a function of a shared feature and ends what it has begun.
func (p *pipeline) do(ctx context.Context, f func(ctx context.Context, db sqlstore.DB) error) error {
	if err := f(ctx, p); err != nil {
		return err
	}
	calls := p.take()
	switch {
	case p.begun && len(calls)+len(p.end) == 0: // it only reads, and has
		return nil
	case p.begun:
		return p.finish(ctx, calls)
	case len(calls) > 0:
		return p.sendAll(ctx, calls...)
	}
	return nil
}

// finish sends the last calls with what ends the transaction. Reads have nothing to end.
func (p *pipeline) finish(ctx context.Context, calls []call) error {
	if calls = append(p.opened(calls), p.end...); len(calls) == 0 {
		return nil
	}
	return p.send(ctx, calls...)
}

// opened puts what begins the transaction before the first calls.
func (p *pipeline) opened(calls []call) []call {
	if p.begun {
		return calls
	}
	p.begun = true
	return append(p.begin[:len(p.begin):len(p.begin)], calls...)
}

func (p *pipeline) take() []call {
	calls := p.queue
	p.queue = nil
	return calls
}

// Exec implements sqlstore.DB.
func (p *pipeline) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	hit := p.Queue(statement, args...)
	err := p.Flush(ctx)
	return *hit, err
}

// Each implements sqlstore.DB.
func (p *pipeline) Each(ctx context.Context, scan func(sqlstore.Scanner) error, statement string, args ...any) error {
	p.QueueEach(scan, statement, args...)
	return p.Flush(ctx)
}

// Queue implements sqlstore.DB.
func (p *pipeline) Queue(statement string, args ...any) *int64 {
	hit := new(int64)
	scalars, rows := sqlstore.SplitRows(args)
	if statement == "" || rows != nil && len(rows.Tuples()) == 0 {
		return hit
	}
	p.queue = append(p.queue, call{sql: statement, args: bind(scalars, rows), hit: hit})
	return hit
}

// QueueEach implements sqlstore.DB.
func (p *pipeline) QueueEach(scan func(sqlstore.Scanner) error, statement string, args ...any) {
	scalars, rows := sqlstore.SplitRows(args)
	if statement == "" || rows != nil && len(rows.Tuples()) == 0 {
		return
	}
	p.queue = append(p.queue, call{sql: statement, args: bind(scalars, rows), each: scan})
}

// Flush implements sqlstore.DB.
func (p *pipeline) Flush(ctx context.Context) error {
	calls := p.take()
	if len(calls) == 0 {
		return nil
	}
	return p.send(ctx, p.opened(calls)...)
}

// WakeLater implements sqlstore.DB.
func (p *pipeline) WakeLater() { p.later = true }
