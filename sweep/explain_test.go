package sweep_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// explained asks how a sweep stands and expects these reasons, in order.
func (s *scrubbing) explained(sw sweep.Sweep, want ...fairlead.ObstacleCode) fairlead.Situation {
	s.Helper()
	found, err := s.client.Explain(s.Context(), sw.ID)
	s.ok(err)
	var got []fairlead.ObstacleCode
	for _, o := range found.Reasons {
		got = append(got, o.Code)
		if o.Text == "" {
			s.Errorf("%s says nothing to people", o.Code)
		}
	}
	if !slices.Equal(got, want) || found.ID != sw.ID || found.Name != sw.Name || found.At.IsZero() {
		s.Fatalf("got %+v, want %v", found, want)
	}
	return found
}

func TestASweepSaysWhatKeepsItFromGoingOn(t *testing.T) {
	s := newScrubbing(t)
	sw := s.put(inShards(2), gated)
	unhandled := s.explained(sw, fairlead.NotStarted, fairlead.NoNode)
	if len(unhandled.Reasons[1].Kinds) != 0 {
		t.Errorf("the only node handles no items, and these are named: %v", unhandled.Reasons[1].Kinds)
	}
	_, err := s.store.Join(t.Context(), fairlead.Node{Name: "other", Kinds: []string{sweep.KindOf("polish"), "noop"}, Slots: 1}, time.Hour)
	s.ok(err)
	if kinds := s.explained(sw, fairlead.NotStarted, fairlead.NoNode).Reasons[1].Kinds; !slices.Equal(kinds, []fairlead.KindCount{{Kind: "polish"}}) {
		t.Errorf("live nodes handle %v", kinds)
	}
	_, err = s.store.Join(t.Context(), fairlead.Node{Name: "able", Kinds: []string{sweep.KindOf(scrubKind)}, Slots: 1}, time.Hour)
	s.ok(err)
	s.explained(sw, fairlead.NotStarted)

	s.start(sw)
	if text := s.explained(sw, fairlead.AtBusiness).Reasons[0].Text; !strings.Contains(text, "which was notified at") {
		t.Errorf("it says %q", text)
	}
	_, err = s.client.Open(t.Context(), sw.ID, "ann")
	s.ok(err)
	running := s.explained(sw)
	if len(running.Jobs) != 2 || running.Jobs[0].State != fairlead.Ready || running.State != "running" {
		t.Errorf("the jobs of its shards are %+v", running.Jobs)
	}
	if codes := running.Jobs[0].Obstacles; len(codes) == 0 || codes[0].Code != fairlead.NoSlot {
		t.Errorf("its jobs do not run because of %v", codes)
	}
	s.stop(sw)
	if text := s.explained(sw, fairlead.IsStopped).Reasons[0].Text; text != "it is stopped (enough)" {
		t.Errorf("it says %q", text)
	}
}

func TestAKindIsHandledByALiveNodeOfTheQueue(t *testing.T) {
	now := time.Now()
	sw := sweep.Sweep{Kind: "scrub", Queue: "eu"}
	for name, c := range map[string]struct {
		node    fairlead.Node
		handled bool
	}{
		"of all queues":       {fairlead.Node{Kinds: []string{"sweep.scrub"}, Until: now.Add(1)}, true},
		"of the queue":        {fairlead.Node{Kinds: []string{"sweep.scrub"}, Queues: []string{"us", "eu"}, Until: now.Add(1)}, true},
		"of another queue":    {fairlead.Node{Kinds: []string{"sweep.scrub"}, Queues: []string{"us"}, Until: now.Add(1)}, false},
		"of another kind":     {fairlead.Node{Kinds: []string{"scrub"}, Until: now.Add(1)}, false},
		"dead":                {fairlead.Node{Kinds: []string{"sweep.scrub"}, Until: now.Add(1), Dead: true}, false},
		"silent for too long": {fairlead.Node{Kinds: []string{"sweep.scrub"}, Until: now}, false},
	} {
		if got := sw.Unhandled([]fairlead.Node{c.node}, now) == nil; got != c.handled {
			t.Errorf("a node %s: handled is %t", name, got)
		}
	}
}
