package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// errHindered is why the context of a call ends that waits for a lock.
var errHindered = errors.New("a statement waits for a lock that is not given back")

// unhindered requires that a call does not wait for locks that the test holds. How long
// it takes otherwise depends on the machine.
func unhindered(t *testing.T, address, what string, call func(ctx context.Context) error) {
	t.Helper()
	ctx, stop := watchLocks(t, address)
	defer stop()
	if err := errors.Join(call(ctx), context.Cause(ctx)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// watchLocks returns a context that ends when the server says that a statement in the
// database has waited for a lock for some time. A store waits for five seconds.
func watchLocks(t *testing.T, address string) (_ context.Context, stop func()) {
	t.Helper()
	db := rawDB(t, address, nil)
	ctx, end := context.WithCancelCause(t.Context())
	ctx, cancel := context.WithTimeout(ctx, patience.Limit)
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond) // the server's answer is as old as a tenth of a second
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
			}
			if waits, err := lockWaits(db); err != nil || waits > 0 {
				end(errors.Join(errHindered, err))
				return
			}
		}
	})
	return ctx, sync.OnceFunc(func() {
		close(over)
		watching.Wait()
		cancel()
		end(nil)
	})
}

// lockWaits counts the statements that have waited for a lock for seconds.
func lockWaits(db *sql.DB) (waits int, err error) {
	err = db.QueryRowContext(context.Background(), `select count(*) from information_schema.innodb_trx t join information_schema.processlist p on p.id = t.trx_mysql_thread_id
		where p.db = database() and t.trx_state = 'LOCK WAIT' and t.trx_wait_started < now() - interval 2 second`).Scan(&waits)
	return waits, err
}
