package sqlstore

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestLimitConfig(t *testing.T) {
	limit := func(id int32, scope fairlead.LimitScope, name string, running int) *StoredLimit {
		return &StoredLimit{ID: id, Limit: fairlead.Limit{Scope: scope, Name: name, MaxRunning: running}}
	}
	promised := &StoredLimit{ID: 7, Min: 3, Limit: fairlead.Limit{Scope: fairlead.LimitTenant, Name: "small"}}
	config := NewLimitConfig(4,
		[]fairlead.Pause{{Scope: fairlead.PauseQueue, Name: "held"}, {Scope: fairlead.PauseTenant, Name: "top"}, {Scope: fairlead.PauseKind, Name: "acme"}},
		map[string]string{"top": "", "acme": "top", "small": ""},
		[]*StoredLimit{
			limit(5, fairlead.LimitGlobal, "", 9),
			limit(3, fairlead.LimitTenant, "top", 2),
			limit(9, fairlead.LimitTenant, "acme", 1),
			limit(1, fairlead.LimitKind, "mail", 4),
			limit(2, fairlead.LimitQueue, "q", 0), // removed
			promised,
		})
	for _, test := range []struct {
		lane   LaneKey
		under  []int32
		paused bool
	}{
		{LaneKey{Queue: "q", Tenant: "nobody", Kind: "k"}, []int32{5}, false},
		{LaneKey{Queue: "q", Tenant: "nobody", Kind: "mail"}, []int32{1, 5}, false},
		{LaneKey{Queue: "q", Tenant: "small", Kind: "k"}, []int32{5, 7}, false},
		{LaneKey{Queue: "held", Tenant: "small", Kind: "k"}, []int32{5, 7}, true},
		{LaneKey{Queue: "q", Tenant: "acme", Kind: "mail"}, []int32{1, 3, 5, 9}, true}, // like its parent
		{LaneKey{Queue: "q", Tenant: "top", Kind: "k"}, []int32{3, 5}, true},
		{LaneKey{Queue: "q", Tenant: "nobody", Kind: "acme"}, []int32{5}, true},
	} {
		if got := config.Of(test.lane); !slices.Equal(got, test.under) {
			t.Errorf("%+v is under %v, want %v", test.lane, got, test.under)
		}
		if got := config.Paused(test.lane); got != test.paused {
			t.Errorf("%+v is paused: %v", test.lane, got)
		}
	}
	if id, limited := config.Tenant(LaneKey{Tenant: "small"}); !limited || id != 7 {
		t.Errorf("the limit of the tenant is %d, %v", id, limited)
	}
	if _, limited := config.Tenant(LaneKey{Tenant: "nobody"}); limited {
		t.Error("a tenant that nobody declared has a limit")
	}
}

func TestTwoSetsOfLimitsHaveTwoNames(t *testing.T) {
	names := map[string][]int32{}
	for _, ids := range [][]int32{{}, {1}, {2}, {12}, {1, 2}, {1, 12}, {11, 2}, {112}, {1, 1, 2}} {
		name := HoldName(ids)
		if other, taken := names[name]; taken {
			t.Errorf("%v and %v are both called %q", ids, other, name)
		}
		names[name] = ids
	}
}
