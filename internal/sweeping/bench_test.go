package sweeping_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// BenchmarkItems measures the overhead of a sweep without the work of its handlers.
func BenchmarkItems(b *testing.B) {
	until := time.Now().Add(time.Hour)
	lease := func() time.Time { return until }
	for name, shard := range map[string]sweeping.Shard{
		"2 in flight":    {InFlight: 2, Lease: lease},
		"32 in flight":   {InFlight: 32, Lease: lease},
		"1,000 per call": {InFlight: 2, Lease: lease, Batch: 1000},
		"serial":         {Serial: true, Lease: lease},
	} {
		b.Run(name, func(b *testing.B) {
			if shard.Batch > 0 {
				shard.HandleBatch = func(context.Context, []sweeping.Item, []sweeping.Outcome) {}
			} else {
				shard.Handle = func(context.Context, sweeping.Item) sweeping.Outcome { return sweeping.Outcome{} }
			}
			shard.Source = source.Indexes{To: int64(b.N)}
			shard.To = int64(b.N)
			shard.Save = func(context.Context, sweeping.Checkpoint) (sweeping.Orders, error) {
				return sweeping.Orders{}, nil
			}
			shard.Record = func(context.Context, []sweeping.Record) error { return nil }
			b.ReportAllocs()
			runner, err := sweeping.New(shard)
			if err != nil {
				b.Fatal(err)
			}
			if ending, err := runner.Run(b.Context()); err != nil || ending.End != sweeping.Finished {
				b.Fatal(ending, err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}
