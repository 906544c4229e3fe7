package sim

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestAProcessIsUnsteadyOnlyIfItFailsAgainAndAgain(t *testing.T) {
	const lease = time.Second
	beats := func(from, to time.Duration, doubts ...time.Duration) *nodeLease {
		n := &nodeLease{process: "a"}
		for at := from; at <= to; at += lease / 5 {
			n.seen = append(n.seen, Instant(0).Add(time.Hour+at))
		}
		for _, at := range doubts {
			n.doubt = append(n.doubt, Instant(0).Add(time.Hour+at))
		}
		return n
	}
	now := Instant(0).Add(time.Hour + 6*lease)
	for name, c := range map[string]struct {
		lives []*nodeLease
		want  bool
	}{
		"it was steady":                  {[]*nodeLease{beats(0, 6*lease)}, false},
		"it just came":                   {[]*nodeLease{beats(5*lease, 6*lease)}, false},
		"one beat failed":                {[]*nodeLease{beats(0, 6*lease, 5*lease)}, false},
		"a beat failed in every lease":   {[]*nodeLease{beats(0, 6*lease, 3*lease, 4*lease, 5*lease, 6*lease-1)}, true},
		"it joined anew again and again": {[]*nodeLease{beats(3*lease, 4*lease), beats(4*lease, 5*lease), beats(5*lease, 6*lease)}, true},
		"it is back after an outage":     {[]*nodeLease{beats(0, lease), beats(6*lease-lease/5, 6*lease)}, false},
	} {
		l := leases{length: lease, nodes: map[fairlead.NodeID]*nodeLease{}}
		for i, life := range c.lives {
			l.nodes[fairlead.NodeID(i)] = life
		}
		if got := l.longUnsteady("a", now); got != c.want {
			t.Errorf("%s: longUnsteady is %v", name, got)
		}
	}
}
