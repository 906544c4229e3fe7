package dispatch

import (
	"testing"
	"time"
)

func TestNextToken(t *testing.T) {
	jobs := []Key{{ID: 1}, {ID: 2}}
	lane := func(limits ...*Limit) *Lane { return &Lane{Limits: limits, Keys: jobs, All: true} }
	rate := func(perSecond, tokens float64) *Limit { return &Limit{Rate: perSecond, Burst: 5, Tokens: tokens} }
	full := &Limit{Cap: 1, Used: 1}
	for _, test := range []struct {
		name  string
		lanes []*Lane
		picks int // of the first lane
		want  time.Duration
	}{
		{"nothing waits", nil, 0, -1},
		{"no rate", []*Lane{lane(&Limit{Cap: 3})}, 2, -1},
		{"a token is there", []*Lane{lane(rate(1, 2))}, 1, -1},
		{"the tokens are spent", []*Lane{lane(rate(2, 1))}, 1, 500 * time.Millisecond},
		{"nothing is left to start", []*Lane{lane(rate(2, 2))}, 2, -1},
		{"the slowest of a lane's rates counts", []*Lane{lane(rate(2, 0), rate(4, 0))}, 0, 500 * time.Millisecond},
		{"the quickest of all lanes counts", []*Lane{lane(rate(2, 0)), lane(rate(4, 0))}, 0, 250 * time.Millisecond},
		{"a full cap is no matter of time", []*Lane{lane(rate(2, 0), full)}, 0, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var picks []Pick
			for i := range test.picks {
				picks = append(picks, Pick{test.lanes[0], jobs[i]})
			}
			if got := NextToken(test.lanes, picks); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
