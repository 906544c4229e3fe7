package scale

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// Count contains numbers of operations.
type Count struct {
	Claims, Tries, Looks, Started int64
	LanesLooked                   int64 // lanes whose start was read
	LanesRead                     int64 // lanes of which jobs were read
	SurveyRows, HeadRows, KeyRows int64 // rows read by claims
	Shares                        int64 // number of exchanges of starts
	ShareRead, ShareSent          int64 // rows of fair_start that the database scanned, and sent
	ShareWritten                  int64 // rows of fair_start
}

func (c *Count) add(more Count) {
	for i, into := range c.all() {
		*into += *more.all()[i]
	}
}

func (c *Count) all() []*int64 {
	return []*int64{
		&c.Claims, &c.Tries, &c.Looks, &c.Started, &c.LanesLooked, &c.LanesRead, &c.SurveyRows, &c.HeadRows, &c.KeyRows,
		&c.Shares, &c.ShareRead, &c.ShareSent, &c.ShareWritten,
	}
}

const bucketSeconds = 10

// simulation is a running simulation.
type simulation struct {
	*world
	nodes     []*node
	claimCPU  time.Duration
	sharesCPU time.Duration
}

// due is the time of a node's next claim.
type due struct {
	at   float64
	node *node
}

// Run simulates a cluster.
func Run(spec Spec) Figures {
	spec = spec.withDefaults()
	random := rand.New(rand.NewPCG(spec.Seed, 1))
	s := &simulation{world: newWorld(spec, random)}
	var agenda []due
	for i := range spec.Nodes {
		n := &node{world: s.world, number: i, pastStarts: dispatch.NewPastStarts(), looked: -1, shared: math.Inf(-1)}
		s.nodes = append(s.nodes, n)
		first := random.Float64() / spec.Claims
		for at := first; at < float64(spec.Seconds); at += 1 / spec.Claims {
			agenda = append(agenda, due{at, n})
		}
	}
	slices.SortFunc(agenda, func(a, b due) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node.number, b.node.number))
	})
	for together := range slices.Chunk(agenda, spec.overlapping()) {
		s.claim(together)
	}
	return s.figures()
}

// claim performs overlapping claims.
func (s *simulation) claim(together []due) {
	now := together[0].at
	var claims []*claim
	for _, d := range together {
		s.share(d.node, now)
		d.node.counts.Claims++
		claims = append(claims, &claim{node: d.node, left: s.spec.Max})
	}
	began := bench.ProcessTime()
	for try := 0; len(claims) > 0 && try < claimTries; try++ {
		for _, c := range claims {
			c.choose(now)
		}
		claims = slices.DeleteFunc(claims, func(c *claim) bool { return !c.commit() })
	}
	s.claimCPU += bench.ProcessTime() - began
	for _, d := range together {
		if !d.node.begun { // like a store after the first claim of a node
			s.share(d.node, now)
			d.node.begun = true
		}
	}
}

// share exchanges a node's starts with those of others, once a second.
func (s *simulation) share(n *node, now float64) {
	if now-n.shared < 1 {
		return
	}
	n.shared = now
	bucket := int64(now) / bucketSeconds
	others, rows := s.fair.others(n.number, bucket)
	began := bench.ProcessTime()
	n.pastStarts.Refresh(bucket, others, s.party)
	unread := n.pastStarts.Unread()
	n.pastStarts.Written(unread)
	s.sharesCPU += bench.ProcessTime() - began
	s.fair.put(n.number, unread)
	s.fair.forget(bucket)
	n.counts.Shares++
	n.counts.ShareRead += int64(rows)
	n.counts.ShareSent += int64(len(others))
	n.counts.ShareWritten += int64(len(unread))
}
