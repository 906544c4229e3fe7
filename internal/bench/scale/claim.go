package scale

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// Constants as in package postgres.
const (
	manyLanes  = 256
	fewLanes   = 16
	mostSlack  = 8192
	claimTries = 5
)

// node is a node of the cluster.
type node struct {
	*world
	number     int
	pastStarts *dispatch.PastStarts
	looked     float64 // time of its last look at the starts of lanes; negative = never
	shared     float64 // time when it last shared its starts
	begun      bool
	slack      int
	take       int   // approximate number of jobs taken by its last claims
	counts     Count // its operations so far
}

// candidate has the same size as the candidate of a store.
type candidate struct {
	lane     *lane
	version  uint64
	view     laneView
	from     dispatch.Key
	promised bool
	share    *dispatch.Share
	others   *dispatch.Others
}

// claim is one call of Claim.
type claim struct {
	*node
	left int // number of jobs it may still take

	shares    *dispatch.Shares
	lanes     []*dispatch.Lane // lanes under consideration
	known     map[*dispatch.Lane]*lane
	unweighed []candidate
	rests     dispatch.Rests
	picks     []dispatch.Pick
}

// choose performs the first part of an attempt, before it takes jobs. Overlapping claims
// all do this before any of them takes jobs.
func (c *claim) choose(now float64) {
	c.counts.Tries++
	c.shares = c.pastStarts.Open()
	c.lanes, c.known, c.rests = nil, map[*dispatch.Lane]*lane{}, nil
	c.weigh(c.look(now))
	for {
		lanes := c.rests.Append(slices.Clip(c.lanes))
		picks, toRead := dispatch.Choose(lanes, dispatch.Ask{Max: c.left + c.slack})
		if len(toRead) == 0 {
			c.picks = picks
			return
		}
		c.readMore(toRead)
	}
}

// look iterates over all lanes and returns those with jobs. It reads the start of each lane
// again once a second. If most lanes are empty, a survey first finds those with jobs. If
// there are few lanes, every claim reads all of them.
func (c *claim) look(now float64) []candidate {
	var line []candidate
	for i := range c.heads {
		if head := &c.heads[i]; head.known && !head.touched && len(head.view.keys) > 0 {
			l := &c.world.lanes[i]
			line = append(line, candidate{lane: l, view: head.view, from: c.key(l, l.taken)})
		}
	}
	many := len(c.heads) > manyLanes
	if many && c.looked >= 0 && now-c.looked <= 1 {
		return line
	}
	c.looked = now
	c.counts.Looks++
	if many && 2*len(line) < len(c.heads) {
		c.counts.SurveyRows += int64(len(line))
		c.counts.LanesLooked += int64(len(line))
	} else {
		c.counts.LanesLooked += int64(len(c.heads))
	}
	c.counts.HeadRows += int64(len(line))
	return line
}

// weigh considers the lanes whose tenants have had the least, if there are very many lanes;
// rests stand for the others.
func (c *claim) weigh(line []candidate) {
	for i := range line {
		party, _ := c.config.Party(line[i].lane.LaneKey)
		line[i].share = c.shares.Of(party)
	}
	most := max(2*c.left, manyLanes)
	if len(line) > most {
		slices.SortFunc(line, func(a, b candidate) int { return dispatch.ByShare(a.share, a.from, b.share, b.from) })
	}
	c.unweighed = line
	c.weighFirst(min(most, len(line)))
}

func (c *claim) weighFirst(n int) {
	var lot []*dispatch.Lane
	c.rests = dispatch.Rests{}
	for _, next := range c.unweighed[:n] {
		c.rests.Read(next.share)
		lane := &dispatch.Lane{ID: next.lane.id, Kind: next.lane.Kind, From: next.from, Share: next.share}
		c.known[lane] = next.lane
		lot = append(lot, lane)
	}
	c.unweighed = c.unweighed[n:]
	for _, rest := range c.unweighed {
		c.rests.Add(rest.share, rest.from)
	}
	c.lanes = append(c.lanes, lot...)
	c.read(lot)
}

// readMore reads more jobs of lanes, or considers more lanes, or both.
func (c *claim) readMore(toRead []*dispatch.Lane) {
	var known []*dispatch.Lane
	for _, lane := range toRead {
		if c.rests.Has(lane) {
			c.weighFirst(len(c.unweighed))
		} else {
			known = append(known, lane)
		}
	}
	c.read(known)
}

// read reads the next jobs of lanes in one round trip.
func (c *claim) read(lanes []*dispatch.Lane) {
	if len(lanes) == 0 {
		return
	}
	expected := min(c.left+c.slack, max(2*c.take, fewLanes))
	page := max(2*expected/len(lanes)+1, 2)
	for _, lane := range lanes {
		from := c.known[lane]
		for range page {
			lane.Keys = append(lane.Keys, c.key(from, from.taken+len(lane.Keys)))
		}
	}
	c.counts.LanesRead += int64(len(lanes))
	c.counts.KeyRows += int64(len(lanes) * page)
}

// commit takes the chosen jobs that other claims have not taken in the meantime. It reports
// whether to try again.
func (c *claim) commit() (again bool) {
	started := map[dispatch.Party]int{}
	taken := 0
	for _, pick := range c.picks {
		from := c.known[pick.Lane]
		if taken == c.left {
			break
		}
		if c.place(pick.Key) != from.taken {
			continue
		}
		from.taken++
		taken++
		party, _ := c.config.Party(from.LaneKey)
		started[party]++
	}
	missed := taken < min(c.left, len(c.picks))
	switch {
	case taken < c.left && len(c.picks) == c.left+c.slack:
		c.slack = min(3*c.slack+c.left, mostSlack)
	default:
		c.slack = c.slack * 7 / 8
	}
	c.take = (c.take + taken + 1) / 2
	c.left -= taken
	c.counts.Started += int64(taken)
	c.shares.Close(c.lanes, started)
	return missed && c.left > 0
}
