package metrics_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// What a job costs that starts and ends on a node which is observed.
func BenchmarkPerJob(b *testing.B) {
	m := newMetrics()
	job := &fairlead.Job{Kind: "invoice.send"}
	b.ReportAllocs()
	for b.Loop() {
		m.Started(job)
		m.Ended(job, fairlead.Settlement{Move: fairlead.Succeed}, fairlead.SettledAsAsked, 20*time.Millisecond)
	}
}

// answers is a store that takes no time.
type answers struct {
	driver.Store
}

func (answers) Claim(context.Context, driver.Claim) ([]*fairlead.Job, error) { return nil, nil }

// What a call of a timed store costs above that of the store itself.
func BenchmarkPerCallOfTheStore(b *testing.B) {
	store := newMetrics().Store(answers{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.Claim(b.Context(), driver.Claim{}); err != nil {
			b.Fatal(err)
		}
	}
}
