package sqlstore

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

func TestACauseOfManyLanesIsSeenOnce(t *testing.T) {
	f := readyFacts()
	f.under(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 2}, dispatch.Limit{Used: 3})
	lanes := []LaneKey{{"q", "t", "k"}, {"q", "u", "k"}, {"q", "v", "unknown"}, {"other", "t", "k"}}
	seen := causes(f, lanes, nil)
	want := []hold.Seen{
		{Cause: hold.Cause{Code: fairlead.AtCap, Scope: fairlead.LimitQueue, Queue: "q"}, Used: 3, Cap: 2},
		{Cause: hold.Cause{Code: fairlead.NoNode, Queue: "q", Kind: "unknown"}},
	}
	if len(seen) != len(want) || seen[0] != want[0] || seen[1] != want[1] {
		t.Errorf("got %+v", seen)
	}
}

func TestThatNoNodeIsThereBeganWhenTheLastLeaseEnded(t *testing.T) {
	f := readyFacts()
	died := explained.Add(-3 * time.Second)
	f.Nodes[0].Until = died
	f.Nodes = append(f.Nodes,
		fairlead.Node{ID: 2, Kinds: []string{"k"}, Dead: true, Until: died.Add(-time.Minute)},
		fairlead.Node{ID: 3, Kinds: []string{"other"}, Idle: 1, Until: explained.Add(time.Hour)})
	seen := causes(f, []LaneKey{{"q", "t", "k"}}, nil)
	if len(seen) != 1 || seen[0].Code != fairlead.NoNode || !seen[0].Since.Equal(died) {
		t.Errorf("got %+v", seen)
	}
}

func TestAGateIsNamedByItsKindTenantAndKey(t *testing.T) {
	seen := causes(readyFacts(), nil, []waitingGate{{LaneKey{"q", "t", "k"}, "key", 1}})
	want := hold.Seen{Cause: hold.Cause{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: "t", Kind: "k", Gate: "key"}, Used: 1, Cap: 1}
	if len(seen) != 1 || seen[0] != want {
		t.Errorf("got %+v", seen)
	}
}
