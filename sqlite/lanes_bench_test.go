package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// BenchmarkDrainUnderCaps is jobs of some tenants that are claimed and settled,
// without limits and with caps that do not bind.
func BenchmarkDrainUnderCaps(b *testing.B) {
	const tenants = 20
	for _, each := range []int{0, drained} {
		b.Run(fmt.Sprint("cap ", each), func(b *testing.B) {
			s := benchStore(b)
			for i := range tenants {
				_, err := s.PutTenant(b.Context(), fairlead.Tenant{Name: fmt.Sprint("tenant ", i), MaxRunning: each})
				must(b, err)
			}
			for range b.N {
				jobs := benchJobs(1000)
				for i, job := range jobs {
					job.Tenant = fmt.Sprint("tenant ", i%tenants)
				}
				must(b, s.Enqueue(b.Context(), jobs))
			}
			perJob(b, b.N*1000, func() { drain(b, s) })
		})
	}
}

// BenchmarkClaimFromManyLanes is one claim of 500 when as many tenants wait.
func BenchmarkClaimFromManyLanes(b *testing.B) {
	for _, lanes := range []int{1, 10, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(lanes), func(b *testing.B) {
			s := benchStore(b)
			for left := b.N*drained + 5*lanes; left > 0; left -= 10_000 {
				jobs := benchJobs(10_000)
				for i, job := range jobs {
					job.Tenant = fmt.Sprint("tenant ", (left+i)%lanes)
				}
				must(b, s.Enqueue(b.Context(), jobs))
			}
			node, err := s.Join(b.Context(), fairlead.Node{}, time.Hour)
			must(b, err)
			scope := &driver.Scope{Kinds: []string{"bench"}}
			perJob(b, b.N*drained, func() {
				for range b.N {
					jobs, err := s.Claim(b.Context(), driver.Claim{Node: node, Scope: scope, Max: drained})
					must(b, err)
					if len(jobs) != drained {
						b.Fatalf("claimed %d jobs", len(jobs))
					}
				}
			})
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/claim")
		})
	}
}
