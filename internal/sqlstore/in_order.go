package sqlstore

import (
	"context"
	"fmt"
)

// InOrder implements the queue of a DB for databases that run one statement at a time. Flush
// runs the queued statements in order.
type InOrder struct {
	// Run and Ask run a statement immediately, like DB.Exec and DB.Each.
	Run func(ctx context.Context, statement string, args ...any) (hit int64, err error)
	Ask func(ctx context.Context, scan func(Scanner) error, statement string, args ...any) error

	queue []func(ctx context.Context) error
}

// Exec implements DB.
func (o *InOrder) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	if err := o.Flush(ctx); err != nil {
		return 0, err
	}
	return o.Run(ctx, statement, args...)
}

// Each implements DB.
func (o *InOrder) Each(ctx context.Context, scan func(Scanner) error, statement string, args ...any) error {
	if err := o.Flush(ctx); err != nil {
		return err
	}
	return o.Ask(ctx, scan, statement, args...)
}

// Queue implements DB.
func (o *InOrder) Queue(statement string, args ...any) *int64 {
	hit := new(int64)
	if statement == "" {
		return hit
	}
	o.queue = append(o.queue, func(ctx context.Context) (err error) {
		*hit, err = o.Run(ctx, statement, args...)
		return err
	})
	return hit
}

// QueueEach implements DB.
func (o *InOrder) QueueEach(scan func(Scanner) error, statement string, args ...any) {
	if statement == "" {
		return
	}
	o.queue = append(o.queue, func(ctx context.Context) error { return o.Ask(ctx, scan, statement, args...) })
}

// Must queues a statement that fails unless it hits the given number of rows.
func (o *InOrder) Must(rows int, statement string, args ...any) {
	if statement == "" || rows == 0 {
		return
	}
	o.queue = append(o.queue, func(ctx context.Context) error {
		hit, err := o.Run(ctx, statement, args...)
		if err == nil && hit != int64(rows) {
			err = fmt.Errorf("affected %d rows, want %d: %s", hit, rows, statement)
		}
		return err
	})
}

// Flush implements DB.
func (o *InOrder) Flush(ctx context.Context) error {
	queue := o.queue
	o.queue = nil
	for _, run := range queue {
		if err := run(ctx); err != nil {
			return err
		}
	}
	return nil
}
