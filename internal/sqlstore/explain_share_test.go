package sqlstore

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// sharedFacts returns the facts of a job whose tenant, a child of a parent with weight 2,
// shares starts with its sibling and with another tenant.
func sharedFacts() Facts {
	f := readyFacts()
	f.LimitConfig = NewLimitConfig(1, nil, map[string]string{"t": "top", "sibling": "top"},
		[]*StoredLimit{{Limit: fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", Order: fairlead.OrderFair}}}).
		Weighed(map[string]int{"top": 2, "t": 3})
	f.Shared = map[string]int{"t": 20, "sibling": 30, "other": 50}
	return f
}

func TestTheShareOfATenantIsThatOfItsWeightInItsFamily(t *testing.T) {
	want := fairlead.Share{
		Queue: "q", Weight: 3, Entitled: 0.5, Had: 0.2,
		Text: `tenant "t" has weight 3: it is entitled to 50 % of the starts of queue "q", and had 20 % in the last minute`,
	}
	if e := Explain(sharedFacts()); e.Share == nil || *e.Share != want {
		t.Errorf("got %+v", e.Share)
	}
}

func TestATenantThatIsAloneIsEntitledToAll(t *testing.T) {
	f := sharedFacts()
	f.Shared = nil
	if e := Explain(f); e.Share == nil || e.Share.Entitled != 1 || e.Share.Had != 0 {
		t.Errorf("got %+v", e.Share)
	}
}

func TestTenantsThatShareStartsDoNotGoBeforeEachOther(t *testing.T) {
	f := sharedFacts()
	lane := func(id int32, queue, tenant string) Lane {
		return Lane{id, LaneKey{Queue: queue, Tenant: tenant, Kind: "k"}}
	}
	own, other, elsewhere := lane(1, "q", "t"), lane(2, "q", "other"), lane(3, "plain", "other")
	if rivals := f.Rivals([]Lane{own, other, elsewhere}); !slices.Equal(rivals, []Lane{own, elsewhere}) {
		t.Errorf("got %v", rivals)
	}
}
