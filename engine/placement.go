package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// placement is which node has which shards of sweeps. It tells each node how many it
// should have, and whether it should give one to another. It is a plain calculation:
// nodes that see the same come to the same.
//
// Nodes have shards of a bounded number of sweeps. As long as there are sweeps of which
// no shard runs and no more room than for those, shards of the others stay together.
//
// A move brings a node nearer to its bound, or a sweep together that has to be, or makes
// the placement more even. None undoes what goes before it, so there is an end to it.
type placement struct {
	most    int // sweeps that a node may have shards of
	hosts   []*host
	places  map[int64]place // where shards of a sweep may run
	waiting []*fairlead.Job // of shards that no node has
	orphans []*fairlead.Job // of shards that are to be taken back from nodes that are gone
}

// host is a node that may have shards.
type host struct {
	node   fairlead.Node
	shards map[int64]int // by sweep
	total  int
}

// place is which nodes may run shards of a sweep.
type place struct{ kind, queue string }

// newPlacement sorts jobs of shards, which run or wait, by the live nodes that have
// them.
func newPlacement(nodes []fairlead.Node, jobs []*fairlead.Job, sweeps int) *placement {
	p, alive := &placement{places: map[int64]place{}}, map[fairlead.NodeID]bool{}
	for i := range nodes {
		n := &nodes[i]
		alive[n.ID] = !n.Dead
		if !n.Dead && !n.Draining && !n.Remote && slices.ContainsFunc(n.Kinds, sweep.IsShardKind) {
			p.hosts = append(p.hosts, &host{node: *n, shards: map[int64]int{}})
		}
	}
	p.most = divideUp(sweeps, max(1, len(p.hosts)))
	for _, job := range jobs {
		sweep := sweep.Of(job)
		if sweep == 0 {
			continue
		}
		p.places[sweep] = place{kind: job.Kind, queue: job.Queue}
		if job.State != fairlead.Running {
			p.waiting = append(p.waiting, job)
		} else if h := p.host(job.Node); h != nil {
			h.shards[sweep]++
			h.total++
		} else if !alive[job.Node] {
			p.orphans = append(p.orphans, job)
		}
	}
	return p
}

func (p *placement) host(id fairlead.NodeID) *host {
	if i := slices.IndexFunc(p.hosts, func(h *host) bool { return h.node.ID == id }); i >= 0 {
		return p.hosts[i]
	}
	return nil
}

// besides are the nodes that may have shards, but for one.
func (p *placement) besides(id fairlead.NodeID) (others []fairlead.Node) {
	for _, h := range p.hosts {
		if h.node.ID != id {
			others = append(others, h.node)
		}
	}
	return others
}

// servedByAny reports whether one of some nodes could run a job.
func servedByAny(nodes []fairlead.Node, job *fairlead.Job) bool {
	return slices.ContainsFunc(nodes, func(n fairlead.Node) bool { return n.ServesTenant(job.Queue, job.Tenant, job.Kind) })
}

// claimed is how many shards a node has.
func (p *placement) claimed(id fairlead.NodeID) int {
	if h := p.host(id); h != nil {
		return h.total
	}
	return 0
}

// total is how many shards there are to share.
func (p *placement) total() int {
	total := len(p.waiting) + len(p.orphans)
	for _, h := range p.hosts {
		total += h.total
	}
	return total
}

// share is how many shards a node may claim until it has its part of them; zero: as
// many as it likes, as no other node is there. One it may always have: it has not heard
// yet of a sweep that has just been started.
func (p *placement) share() int {
	if len(p.hosts) < 2 {
		return 0
	}
	return max(1, divideUp(p.total(), len(p.hosts)))
}

// hosted reports whether a node other than one has shards of a sweep.
func (p *placement) hosted(sweep int64, but *host) bool {
	return slices.ContainsFunc(p.hosts, func(h *host) bool { return h != but && h.shards[sweep] > 0 })
}

// spare is for how many sweeps there is room beyond those of which no shard runs, or
// which are too many where they are. If it is negative, others have to come together.
func (p *placement) spare() int {
	spare, unhosted := 0, map[int64]bool{}
	for _, h := range p.hosts {
		spare += p.bound(h) - len(h.shards)
	}
	for _, job := range slices.Concat(p.waiting, p.orphans) {
		if sweep := sweep.Of(job); !p.hosted(sweep, nil) {
			unhosted[sweep] = true
		}
	}
	return spare - len(unhosted)
}

// surplus is the sweep of which a node should give a shard to others; zero: of none.
// While shards are on their way to another node nothing is given to make it more even.
func (p *placement) surplus(id fairlead.NodeID, onTheWay bool) int64 {
	own := p.host(id)
	if own == nil {
		return 0
	}
	few, spare := p.byNumber(own), p.spare()
	gathers := func(other *host, sweep int64) bool { // where most of them are they all go
		theirs, ours := other.shards[sweep], own.shards[sweep]
		return theirs > ours || theirs == ours && other.node.ID < own.node.ID
	}
	if p.crowded(own) {
		return p.give(own, few, func(other *host, sweep int64) bool { return !p.crowded(other) || gathers(other, sweep) })
	}
	if spare < 0 {
		return p.give(own, few, func(other *host, sweep int64) bool { return !p.crowded(other) && gathers(other, sweep) })
	}
	if onTheWay || p.richer(own) >= p.openings() {
		return 0
	}
	slices.Reverse(few)
	return p.give(own, few, func(other *host, sweep int64) bool {
		whole := other.shards[sweep] > 0 || own.shards[sweep] == 1 || spare > 0
		return whole && own.total >= other.total+2 && !p.crowded(other)
	})
}

// crowded reports whether a node has shards of too many sweeps.
func (p *placement) crowded(h *host) bool { return len(h.shards) > p.bound(h) }

// bound is of how many sweeps a node may have shards.
func (p *placement) bound(h *host) int {
	if own := h.node.MaxSweeps; own > 0 {
		return min(p.most, own)
	}
	return p.most
}

// byNumber are the sweeps of a node, those of which it has fewest shards first.
func (p *placement) byNumber(own *host) []int64 {
	return slices.SortedFunc(maps.Keys(own.shards), func(a, b int64) int {
		return cmp.Or(cmp.Compare(own.shards[a], own.shards[b]), cmp.Compare(a, b))
	})
}

// give is the first of some sweeps that another node takes and should have.
func (p *placement) give(own *host, sweeps []int64, should func(other *host, sweep int64) bool) int64 {
	for _, sweep := range sweeps {
		for _, other := range p.hosts {
			if other != own && p.takes(other, sweep) && should(other, sweep) {
				return sweep
			}
		}
	}
	return 0
}

// richer counts the nodes that are to give before this one.
func (p *placement) richer(own *host) int {
	richer := 0
	for _, h := range p.hosts {
		if h.total > own.total || h.total == own.total && h.node.ID < own.node.ID {
			richer++
		}
	}
	return richer
}

// openings is how many nodes may give a shard at the same time, lest the poor become
// rich all at once.
func (p *placement) openings() int {
	least, openings := p.total()/max(1, len(p.hosts)), 0
	for _, h := range p.hosts {
		openings += max(0, least-h.total)
	}
	return max(1, openings)
}

// takes reports whether a node would take up a shard of a sweep.
func (p *placement) takes(h *host, sweep int64) bool {
	at := p.places[sweep]
	if h.node.Idle == 0 || !slices.Contains(h.node.Kinds, at.kind) || len(h.node.Queues) > 0 && !slices.Contains(h.node.Queues, at.queue) {
		return false
	}
	return len(h.shards) < p.bound(h) || h.shards[sweep] > 0
}

func divideUp(n, by int) int { return (n + by - 1) / by }
