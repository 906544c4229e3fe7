package items

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

// Item is one attempt to process an item.
type Item[T any] struct {
	Sweep   int64  // ID of the sweep
	Index   int64  // index of the item
	Attempt int    // number of the attempt, counted from 1
	Data    T      // the sweep's data, the same for all of its items
	Text    []byte // the line, or the row as a JSON object; nil if the item has only an index
}

// Options configures the item sources that a node can read. The zero value supports only
// sweeps over indexes.
type Options struct {
	Roots     []string            // directories below which files may be read
	Client    *http.Client        // client that reads lines from URLs; it must deny forbidden addresses
	Databases map[string]Database // databases with tables that may be read, by name
	Logger    *slog.Logger        // default slog.Default()
}

// Database is a database whose tables sweeps can read.
type Database = source.Database

// The dialects of databases.
const (
	Postgres = source.Postgres
	MySQL    = source.MySQL // and MariaDB
	SQLite   = source.SQLite
)

// Handle registers a function that handles the items of sweeps of the given kind. The
// function returns nil if the item is done. An error means that the attempt failed. The item
// is then retried as the sweep specifies, unless the function returned an error created by
// Abandon, Stop, Finish or RetryAfter. A panic counts as an error.
//
// Many goroutines call the function concurrently, unless the sweep is serial. The function's
// context ends when the sweep's timeout for an attempt expires, when the node loses its lease, and
// when the node shuts down and its drain timeout has passed.
func Handle[T any](mux *fairlead.Mux, store sweep.Store, kind string, options Options, handle func(ctx context.Context, item Item[T]) error) {
	HandleIn(mux, inStore(store), kind, options, handle)
	registerStart(mux, store)
}

// HandleIn registers a function like Handle. It is meant for programs that cannot reach the
// store, such as remote workers. See worker.HandleSweep.
func HandleIn[T any](mux *fairlead.Mux, library Library, kind string, options Options, handle func(ctx context.Context, item Item[T]) error) {
	register(mux, library, kind, options, func(run *Run, data json.RawMessage) (handling, error) {
		var decoded T
		if len(data) > 0 {
			if err := json.Unmarshal(data, &decoded); err != nil {
				return handling{}, fmt.Errorf("the sweep's data does not fit kind %q: %w", kind, err)
			}
		}
		sweep, timeout := run.Sweep.ID, run.Sweep.Timeout
		return handling{one: func(ctx context.Context, item sweeping.Item) sweeping.Outcome {
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			own := &itemContext{Context: ctx}
			err := handle(own, Item[T]{Sweep: sweep, Index: item.Index, Attempt: item.Attempt, Data: decoded, Text: item.Data})
			return outcomeOf(err, own.taken())
		}}, nil
	})
}

// handling is how items are tried under the present data: one by one, or several with
// one call.
type handling struct {
	http *httpTarget // that items are sent to; nil: none
	one  func(ctx context.Context, item sweeping.Item) sweeping.Outcome
	many func(ctx context.Context, items []sweeping.Item, outcomes []sweeping.Outcome)
}

// prepare makes a handling of the sweep's data. Its errors stop the sweep.
type prepare func(run *Run, data json.RawMessage) (handling, error)

// register adds the kind of the jobs that run shards.
func register(mux *fairlead.Mux, library Library, kind string, options Options, prepare prepare) {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	h := &handler{library: library, options: options, prepare: prepare}
	mux.Handle(sweep.KindOf(kind), sweep.ShardOptions(), h)
}

// registerStart adds what lets schedules start sweeps, once.
func registerStart(mux *fairlead.Mux, store sweep.Store) {
	if mux.Entry(sweep.StartKind) == nil {
		mux.Handle(sweep.StartKind, fairlead.HandlerOptions{Timeout: time.Minute}, sweep.StartHandler(store))
	}
}
