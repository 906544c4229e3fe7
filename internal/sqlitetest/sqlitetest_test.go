package sqlitetest_test

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

func TestEachStoreIsEmptyAndItsOwn(t *testing.T) {
	for range 2 {
		store := sqlitetest.Open(t)
		defer store.Close()
		client := fairlead.NewClient(store)
		if jobs, err := client.Find(t.Context(), fairlead.Filter{}); err != nil || len(jobs.Jobs) != 0 {
			t.Errorf("a new store has %v: %v", jobs.Jobs, err)
		}
		if err := client.Enqueue(t.Context(), &fairlead.Job{Kind: "k"}); err != nil {
			t.Error(err)
		}
	}
}
