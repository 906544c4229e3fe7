package fairleadtest

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

// virtualPoll is longer than in production: the node hears of all that this process does,
// and what it does in vain takes real time.
const virtualPoll = 10 * time.Second

// VirtualNode is a complete node that runs in virtual time on an in-memory database.
type VirtualNode struct {
	Clients
	Store *sqlite.Store // store of the node
	T     *testing.T    // the test inside the bubble
}

// Virtual runs a test with a complete node in a testing/synctest bubble. The node's loops,
// timeouts, retries and rates are those of production, except that it polls less often.
//
// The bubble's clock advances while the test waits in Pass or time.Sleep. An hour of waiting
// takes a fraction of a second, plus the real time of the work that is done in it. The
// function register registers the handlers. Handlers must not use real networks, because
// these do not follow the bubble's clock.
func Virtual(t *testing.T, register func(mux *fairlead.Mux, store *sqlite.Store), test func(node *VirtualNode)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), ":memory:")
		if err != nil {
			t.Fatalf("fairleadtest: open the database: %v", err)
		}
		defer func() { _ = store.Close() }()
		mux := fairlead.NewMux()
		register(mux, store)
		node, err := engine.New(store, mux, engine.Options{
			Name: "virtual", Poll: virtualPoll, Beat: 2 * virtualPoll, Lease: 10 * virtualPoll, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatalf("fairleadtest: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- node.Run(ctx) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Errorf("fairleadtest: the node ended with %v", err)
			}
		}()
		synctest.Wait() // it has joined
		test(&VirtualNode{Clients: clientsOf(store, mux), Store: store, T: t})
	})
}

// Now returns the current time of the bubble's clock.
func (n *VirtualNode) Now() time.Time { return time.Now() }

// Pass advances the bubble's clock by d, then waits until all goroutines in the bubble are
// idle.
func (n *VirtualNode) Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
