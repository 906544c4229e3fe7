package sqlstore

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func TestStrangers(t *testing.T) {
	now := time.Unix(1000, 0)
	node := func(id fairlead.NodeID, idle int, queues []string, kinds ...string) fairlead.Node {
		return fairlead.Node{ID: id, Idle: idle, Queues: queues, Kinds: kinds, Until: now.Add(time.Second)}
	}
	dead, late, draining := node(7, 9, nil, "b"), node(8, 9, nil, "b"), node(9, 9, nil, "b")
	dead.Dead, late.Until, draining.Draining = true, now, true
	scope := &driver.Scope{Kinds: []string{"a"}}
	s := NewOtherNodes(1, scope, []fairlead.Node{
		node(1, 9, nil, "b"),           // the claiming node itself
		node(2, 9, []string{"q"}, "a"), // serves less than the claiming node
		node(3, 2, nil, "a", "b"),
		node(4, 1, []string{"q"}, "b"),
		node(5, 0, nil, "b"), // busy
		dead, late, draining,
	}, now)
	lane := func(queue, kind string) LaneKey { return LaneKey{Queue: queue, Tenant: "t", Kind: kind} }
	for _, test := range []struct {
		lane LaneKey
		idle int
	}{
		{lane("q", "a"), 0}, // the claiming node's own lane
		{lane("q", "b"), 3},
		{lane("other", "b"), 2},
		{lane("q", "c"), 0}, // served by no node
	} {
		others := s.Of(test.lane)
		if (others != nil) != (test.idle > 0) || others != nil && others.Idle != test.idle {
			t.Errorf("%+v: %+v, want %d idle slots", test.lane, others, test.idle)
		}
	}
	if first, second := s.Of(lane("q", "b")), s.Of(lane("q", "b")); first != second {
		t.Error("lanes of the same nodes do not share their slots")
	}
	alike := NewOtherNodes(1, scope, []fairlead.Node{node(2, 9, nil, "a"), node(3, 9, []string{"q"}, "a")}, now)
	if alike.Any() {
		t.Error("nodes that serve nothing else are strangers")
	}
}

func TestCovers(t *testing.T) {
	kinds := []string{"a"}
	all := &driver.Scope{Kinds: kinds}
	some := &driver.Scope{Kinds: kinds, Queues: []string{"p", "q"}}
	but := &driver.Scope{Kinds: kinds, Except: []string{"q"}}
	one := &driver.Scope{Kinds: kinds, Queues: []string{"q"}}
	for _, test := range []struct {
		scope, other *driver.Scope
		want         bool
	}{
		{all, all, true},
		{all, some, true},
		{all, but, true},
		{some, one, true},
		{some, all, false},
		{one, some, false},
		{some, some, true},
		{but, one, false},
		{but, &driver.Scope{Kinds: kinds, Queues: []string{"p"}}, true},
		{but, all, false},
		{all, &driver.Scope{Kinds: []string{"a", "b"}}, false},
	} {
		if got := covers(test.scope, test.other); got != test.want {
			t.Errorf("%+v covers %+v: %v", test.scope, test.other, got)
		}
	}
}
