package dispatch

import (
	"fmt"
	"testing"
)

// BenchmarkChooseWithManyFairScopes measures a claim of 500 jobs where each queue shares
// its starts among two tenants of its own.
func BenchmarkChooseWithManyFairScopes(b *testing.B) {
	for _, queues := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(queues), func(b *testing.B) {
			shares := NewPastStarts().Open()
			var lanes []*Lane
			for i := range 2 * queues {
				party := alone(fmt.Sprint("tenant ", i%2), 1)
				party.Scope = fmt.Sprint("queue ", i/2)
				lane := &Lane{ID: int32(i + 1), Share: shares.Of(party), All: true}
				for j := range int64(500) {
					lane.Keys = append(lane.Keys, Key{ID: int64(i) + j*int64(2*queues)})
				}
				lanes = append(lanes, lane)
			}
			for b.Loop() {
				if picks, _ := Choose(lanes, Ask{Max: 500}); len(picks) != 500 {
					b.Fatalf("it took %d", len(picks))
				}
			}
		})
	}
}

// BenchmarkChooseWhereLanesClose measures a claim of 500 jobs where each job closes its
// tenant, which shares the starts of its family with one other tenant.
func BenchmarkChooseWhereLanesClose(b *testing.B) {
	for _, families := range []int{250, 1000, 5000} {
		b.Run(fmt.Sprint(families), func(b *testing.B) {
			shares := NewPastStarts().Open()
			var lanes []*Lane
			for i := range 2 * families {
				party := child(fmt.Sprint("family ", i/2), 1, fmt.Sprint("tenant ", i), 1)
				lanes = append(lanes, &Lane{ID: int32(i + 1), Share: shares.Of(party), All: true, Limits: []*Limit{{Cap: 1}},
					Keys: []Key{{ID: int64(i)}, {ID: int64(i + 2*families)}}})
			}
			for b.Loop() {
				if picks, _ := Choose(lanes, Ask{Max: 500}); len(picks) != 500 {
					b.Fatalf("it took %d", len(picks))
				}
			}
		})
	}
}
