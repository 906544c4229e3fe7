package external_test

import (
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/everystore"
)

// The whole way on every store: sent, answered, failed, told.
func TestEveryStoreWillDo(t *testing.T) {
	everystore.Run(t, func(t *testing.T, store driver.Store) {
		t.Parallel()
		w := newWorldOn(t, store)
		w.declareListening(fairlead.Tenant{MaxRunning: 1})
		stop := w.node(w.store, kinds(), true)
		bad := w.ended(w.enqueue(&fairlead.Job{Kind: "bad"}))
		stop()
		w.node(w.store, kinds(), false)
		w.service.next().has(t, map[string]any{"event": "failed", "id": strconv.FormatInt(bad.ID, 10), "reason": "fatal"})
		job := w.enqueue(externalJob())
		if got := w.service.next(); got.path != "/start" {
			t.Errorf("got %s %s", got.path, got.raw)
		}
		w.waiting(job)
		if err := w.client.Resolve(t.Context(), job.ID, w.get(job).Fence, nil, nil); err != nil {
			t.Fatal(err)
		}
		w.ended(job)
		w.service.quiet()
	})
}
