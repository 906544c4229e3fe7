package external_test

import (
	"strconv"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
)

// The whole way on the other stores: sent, answered, failed, told.
func TestOtherStoresWillDo(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (driver.Store, error){
		"PostgreSQL": func(t *testing.T) (driver.Store, error) { return postgres.Open(t.Context(), testdb.Postgres(t)) },
		"MySQL":      func(t *testing.T) (driver.Store, error) { return mysql.Open(t.Context(), testdb.MySQL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
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
}
