package sqlstore

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

func TestWhoSharesStarts(t *testing.T) {
	order := func(scope fairlead.LimitScope, queue string, order fairlead.Order) *StoredLimit {
		return &StoredLimit{Limit: fairlead.Limit{Scope: scope, Name: queue, Order: order}}
	}
	parents, weights := map[string]string{"child": "top"}, map[string]int{"child": 2, "top": 5}
	child := dispatch.Party{Tenant: "child", Family: "top", Weight: 2, FamilyWeight: 5}
	ofQueue := child
	ofQueue.Scope = "q"
	for _, test := range []struct {
		name   string
		limits []*StoredLimit
		queue  string
		want   dispatch.Party
		fair   bool
	}{
		{"nothing is said", nil, "q", dispatch.Party{}, false},
		{"the cluster is fair", []*StoredLimit{order(fairlead.LimitGlobal, "", fairlead.OrderFair)}, "q", child, true},
		{"the queue is fair", []*StoredLimit{order(fairlead.LimitQueue, "q", fairlead.OrderFair)}, "q", ofQueue, true},
		{"another queue is fair", []*StoredLimit{order(fairlead.LimitQueue, "q", fairlead.OrderFair)}, "r", child, false},
		{
			"the queue goes by deadline",
			[]*StoredLimit{order(fairlead.LimitGlobal, "", fairlead.OrderFair), order(fairlead.LimitQueue, "q", fairlead.OrderDeadline)},
			"q", ofQueue, false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := NewLimitConfig(1, nil, parents, test.limits).Weighed(weights)
			if got, fair := config.Party(LaneKey{Queue: test.queue, Tenant: "child"}); got != test.want || fair != test.fair {
				t.Errorf("got %+v, %v", got, fair)
			}
		})
	}
}

func TestATenantWithoutParentOrWeightCountsAsOne(t *testing.T) {
	config := NewLimitConfig(1, nil, nil, []*StoredLimit{{Limit: fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}}})
	want := dispatch.Party{Tenant: "t", Family: "t", Weight: 1, FamilyWeight: 1}
	if got, fair := config.Party(LaneKey{Queue: "q", Tenant: "t"}); got != want || !fair {
		t.Errorf("got %+v, %v", got, fair)
	}
}
