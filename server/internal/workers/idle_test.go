package workers

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/everystore"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// A worker that asks again and again costs no memory, however many lanes there are.
func TestIdleLeasesTakeNoMemory(t *testing.T) {
	const lanes, most = 1000, 4 << 20
	leases := tier.Size(t, 500, 10_000, "leases ten thousand times on every database")
	everystore.Run(t, func(t *testing.T, store driver.Store) {
		defer store.Close()
		jobs := make([]*fairlead.Job, lanes)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k", Queue: fmt.Sprint("queue-", i), NotBefore: time.Now().Add(time.Hour)}
		}
		if err := fairlead.NewClient(store).Enqueue(t.Context(), jobs...); err != nil {
			t.Fatal(err)
		}
		workers := New(store, Options{Lease: patience.Limit}, nil)
		joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"k"}, Slots: 3})
		if err != nil {
			t.Fatal(err)
		}
		lease := func(times int) {
			t.Helper()
			for range times {
				leased, err := workers.LeaseJobs(t.Context(), &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
				if err != nil || len(leased.GetJobs()) > 0 {
					t.Fatalf("leased %d jobs, %v; want none", len(leased.GetJobs()), err)
				}
			}
		}
		lease(100)
		before := heap()
		lease(leases)
		if grown := heap() - before; grown > most {
			t.Errorf("after %d idle leases %d KiB more are in use, %d for each", leases, grown>>10, grown/int64(leases))
		}
	})
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first one only made ready to be freed
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
