package bulk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/sqlite"
)

func TestErrorsAreComparedAsTheyAreShown(t *testing.T) {
	fairleadtest.Virtual(t, func(mux *fairlead.Mux, store *sqlite.Store) {
		bulk.Register(mux, store)
		mux.Handle("pay", fairlead.HandlerOptions{MaxAttempts: 1}, fairlead.HandlerFunc(func(_ context.Context, job *fairlead.Job) error {
			var args struct{ Password string }
			if err := json.Unmarshal(job.Args, &args); err != nil {
				return err
			}
			return fmt.Errorf("the bank refused %s", args.Password)
		}))
	}, func(node *fairleadtest.VirtualNode) {
		w := &world{node.T, node}
		for range 3 {
			w.ok(w.Client.Enqueue(w.Context(), &fairlead.Job{Kind: "pay", Args: []byte(`{"password":"sesame"}`)}))
		}
		w.Pass(time.Minute)
		w.ok(w.Client.SetConfidential(w.Context(), "pay", []string{"args.password"})) // after their errors were stored
		matched := func(cause string) int64 {
			count, err := w.Bulks.Preview(w.Context(), bulk.Bulk{Action: bulk.Delete, Cause: cause})
			w.ok(err)
			return count.Total()
		}
		if guessed, shown := matched("the bank refused sesame"), matched("the bank refused ***"); guessed != 0 || shown != 3 {
			w.Errorf("%d jobs match what they are not shown with, and %d what they are", guessed, shown)
		}
		made := w.start(bulk.Bulk{Action: bulk.Delete, Cause: "the bank refused ***"})
		w.Pass(time.Minute)
		if b := w.get(made.ID); b.Done != 3 {
			w.Errorf("the bulk is %+v", b)
		}
	})
}
