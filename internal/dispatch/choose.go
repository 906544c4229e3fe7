package dispatch

import (
	"container/heap"
	"slices"
)

// Ask specifies how many jobs a claim may take.
type Ask struct {
	Max   int            // maximum number of jobs
	Rooms map[string]int // kind → maximum number of its jobs; other kinds are limited only by Max
}

// Pick is a job that a claim takes.
type Pick struct {
	Lane *Lane
	Key
}

// maxLanesToRead limits the number of lanes to read before choosing continues.
const maxLanesToRead = 256

// Choose picks the jobs that a claim takes, in order. Tenants below their minimum go first,
// up to that minimum. The remaining jobs are ordered by key, or, within a fair scope, by
// share. A job that only other nodes can run is not picked, but counts against the limits so
// that its slot stays free.
//
// If the order cannot be determined because too few jobs of some lanes are known, Choose
// picks nothing and returns these lanes in toRead. The caller must read more of their jobs
// and call Choose again.
func Choose(lanes []*Lane, ask Ask) (picks []Pick, toRead []*Lane) {
	c := newChoice(ask)
	if toRead, _ = c.run(lanes); toRead != nil {
		return nil, toRead
	}
	return c.picks, nil
}

// ChooseReading chooses like Choose, for a caller that can read individual lanes cheaply. It
// calls read only for lanes that it needs. read adds a lane's next jobs, or records that the
// lane has no more jobs.
func ChooseReading(lanes []*Lane, ask Ask, read func(*Lane) error) ([]Pick, error) {
	c := newChoice(ask)
	c.read = read
	if _, err := c.run(lanes); err != nil {
		return nil, err
	}
	return c.picks, nil
}

// choice is the state of Choose.
type choice struct {
	ask     Ask
	read    func(*Lane) error // nil = lanes are not read
	picks   []Pick
	seen    map[*Lane]int   // number of a lane's jobs picked or left to other nodes
	started map[*Limit]int  // number of these jobs under a limit
	kinds   map[string]int  // number of picked jobs of a kind
	left    map[*Others]int // number of jobs left to other nodes

	got map[*Share]int // number of starts given to a share
}

func newChoice(ask Ask) *choice {
	return &choice{
		ask:     ask,
		seen:    map[*Lane]int{},
		started: map[*Limit]int{},
		kinds:   map[string]int{},
		left:    map[*Others]int{},
		got:     map[*Share]int{},
	}
}

// run picks jobs in two rounds. In the first, only lanes of tenants below their minimum take
// part, each until its tenant has reached it. In the second, all lanes compete for the rest of
// the room. Both rounds count in the same choice, so the second continues behind the jobs that
// the first has picked. run returns the lanes from which more jobs must be read, if any.
func (c *choice) run(lanes []*Lane) (toRead []*Lane, err error) {
	var promised []*Lane
	for _, lane := range lanes {
		if c.short(lane) {
			promised = append(promised, lane)
		}
	}
	if toRead, err = c.merge(promised, c.short); toRead != nil || err != nil {
		return toRead, err
	}
	return c.merge(lanes, func(*Lane) bool { return true })
}

// short reports whether the lane's tenant is below its minimum.
func (c *choice) short(lane *Lane) bool {
	return lane.Tenant != nil && lane.Tenant.lacks() > c.started[lane.Tenant]
}

// merge runs one round of a choice. It merges the lanes for which wanted returns true like
// sorted lists. Until the claim is full or no candidate is left, it looks at the first
// candidate and does one of four things:
//
//   - If its lane may not start another job, it drops the lane. During a choice limits only
//     fill up, so a dropped lane cannot become startable again.
//   - If its next job is known, it takes the job. The lane then competes with its next one.
//   - If its next job is not known and lanes can be read, it reads more of the lane and looks
//     again: the job may turn out to come later than another lane's.
//   - Otherwise it stops and returns the lanes to read. Whatever it has picked is discarded,
//     because the caller calls Choose again with more jobs.
//
// The first check must come first: a job taken before may have used up a limit that this lane
// has too.
func (c *choice) merge(lanes []*Lane, wanted func(*Lane) bool) (toRead []*Lane, err error) {
	candidates, fair := c.candidates(lanes)
	defer fair.keep(c.got)
	startable := func(lane *Lane) bool { return wanted(lane) && c.open(lane) }
	candidates.startable, candidates.closed = startable, closing{all: true}
	for len(c.picks) < c.ask.Max {
		first, any := candidates.first()
		if !any {
			break
		}
		switch {
		case !startable(first.lane):
			candidates.drop(first)
		case first.known:
			c.take(first.lane, first.key)
			if first.group != nil {
				first.group.charge() // before settle, which sorts by these counts
			}
			if !startable(first.lane) {
				candidates.closed = c.closing(first.lane)
			}
			c.settle(candidates, first)
		case c.read == nil:
			return c.lanesToRead(candidates, first.lane, startable), nil
		default:
			if err := c.read(first.lane); err != nil {
				return nil, err
			}
			c.settle(candidates, first)
		}
	}
	return nil, nil
}

// candidates sorts lanes by their next jobs. The lanes of a fair scope share one place.
func (c *choice) candidates(lanes []*Lane) (*candidates, groups) {
	l, fair := &candidates{lanes: make([]place, 0, len(lanes))}, groups{}
	for _, lane := range lanes {
		key, known, ok := lane.next(c.seen[lane])
		switch {
		case !ok:
		case lane.Share == nil:
			l.lanes = append(l.lanes, place{lane: lane, key: key, known: known})
		default:
			tenant := fair.of(lane.Share, c.got)
			tenant.lanes = append(tenant.lanes, place{lane: lane, key: key, known: known})
		}
	}
	for share, group := range fair {
		if share.Of == nil {
			group.order()
			l.scopes = append(l.scopes, group)
		}
	}
	heap.Init(&l.lanes)
	return l, fair
}

// settle moves the first lane to the place of its next job.
func (c *choice) settle(candidates *candidates, first place) {
	key, known, ok := first.lane.next(c.seen[first.lane])
	if !ok {
		candidates.drop(first)
		return
	}
	candidates.change(first, place{lane: first.lane, key: key, known: known})
}

// open reports whether another job of the lane may start.
func (c *choice) open(lane *Lane) bool {
	for _, limit := range lane.Limits {
		if limit.Room() <= c.started[limit] {
			return false
		}
	}
	return c.room(lane)
}

// room reports whether the node has room for another job of the lane, or the other nodes
// that run it instead.
func (c *choice) room(lane *Lane) bool {
	if lane.Others != nil {
		return lane.Others.Idle > c.left[lane.Others]
	}
	room, bounded := c.ask.Rooms[lane.Kind]
	return !bounded || room > c.kinds[lane.Kind]
}

// take records the start of a job, on this node or another.
func (c *choice) take(lane *Lane, key Key) {
	c.seen[lane]++
	for _, limit := range lane.Limits {
		c.started[limit]++
	}
	if lane.Others != nil {
		c.left[lane.Others]++
		return
	}
	c.kinds[lane.Kind]++
	c.picks = append(c.picks, Pick{lane, key})
}

// lanesToRead returns the lanes, starting with first, from which more jobs must be read. It includes
// lanes that stand for many others only if the choice cannot continue otherwise.
func (c *choice) lanesToRead(candidates *candidates, first *Lane, startable func(*Lane) bool) []*Lane {
	rest := candidates.each()
	slices.SortFunc(rest, func(a, b place) int { return a.key.Compare(b.key) })
	var toRead []*Lane
	for _, p := range rest {
		if !p.known && (!p.lane.rest || p.lane == first) && startable(p.lane) && len(toRead) < maxLanesToRead {
			toRead = append(toRead, p.lane)
		}
	}
	return toRead
}
