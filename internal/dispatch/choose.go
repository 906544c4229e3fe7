package dispatch

import (
	"container/heap"
	"slices"
)

// Ask is what a claim wants.
type Ask struct {
	Max   int            // jobs, at most
	Rooms map[string]int // kind → at most so many of it; others have room for Max
}

// Pick is a job to be taken.
type Pick struct {
	Lane *Lane
	Key
}

// mostHungry bounds how many lanes are to be read before choosing goes on.
const mostHungry = 256

// Choose picks the jobs that a claim takes, in order. Tenants below their
// minimum go first, as far as they are short of it; then all go by their keys,
// and those of a fair scope by their shares. A job that only others can run is not picked but counts, so that a slot is
// left to it.
//
// If the order is not known because the jobs of lanes are not known as far
// as needed, nothing is picked: these lanes are to be read on, or first, and
// Choose to be asked again.
func Choose(lanes []*Lane, ask Ask) (picks []Pick, hungry []*Lane) {
	c := newChoice(ask)
	if hungry, _ = c.run(lanes); hungry != nil {
		return nil, hungry
	}
	return c.picks, nil
}

// ChooseReading is Choose for a caller that reads lanes one by one and cheaply: read
// makes the next jobs of a lane known, or that there are none. It is called for
// no lane that could be done without.
func ChooseReading(lanes []*Lane, ask Ask, read func(*Lane) error) ([]Pick, error) {
	c := newChoice(ask)
	c.read = read
	if _, err := c.run(lanes); err != nil {
		return nil, err
	}
	return c.picks, nil
}

// choice is a claim on its way.
type choice struct {
	ask     Ask
	read    func(*Lane) error // nil: nothing is read
	picks   []Pick
	seen    map[*Lane]int   // how many of its jobs were picked or left to others
	started map[*Limit]int  // how many of the jobs under it
	kinds   map[string]int  // how many of a kind were picked
	left    map[*Others]int // how many were left to them

	got map[*Share]int // how many starts a share got
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

// run picks. It returns the lanes that it has to know more about, if any.
func (c *choice) run(lanes []*Lane) (hungry []*Lane, err error) {
	var promised []*Lane
	for _, lane := range lanes {
		if c.short(lane) {
			promised = append(promised, lane)
		}
	}
	if hungry, err = c.merge(promised, c.short); hungry != nil || err != nil {
		return hungry, err
	}
	return c.merge(lanes, func(*Lane) bool { return true })
}

// short reports whether the lane's tenant has less than its minimum.
func (c *choice) short(lane *Lane) bool {
	return lane.Tenant != nil && lane.Tenant.lacks() > c.started[lane.Tenant]
}

// merge takes the first jobs of all lanes together while wanted. It returns
// the lanes that it has to know more about, if any.
func (c *choice) merge(lanes []*Lane, wanted func(*Lane) bool) (hungry []*Lane, err error) {
	line, fair := c.lineUp(lanes)
	defer fair.keep(c.got)
	startable := func(lane *Lane) bool { return wanted(lane) && c.open(lane) }
	line.startable, line.closed = startable, closing{all: true}
	for len(c.picks) < c.ask.Max {
		first, any := line.first()
		if !any {
			break
		}
		switch {
		case !startable(first.lane):
			line.drop(first)
		case first.known:
			c.take(first.lane, first.key)
			if first.group != nil {
				first.group.charge()
			}
			if !startable(first.lane) {
				line.closed = c.closing(first.lane)
			}
			c.settle(line, first)
		case c.read == nil:
			return c.hungry(line, first.lane, startable), nil
		default:
			if err := c.read(first.lane); err != nil {
				return nil, err
			}
			c.settle(line, first)
		}
	}
	return nil, nil
}

// lineUp puts lanes where their next jobs stand. The lanes of a fair scope have one place
// together.
func (c *choice) lineUp(lanes []*Lane) (*line, groups) {
	l, fair := &line{lanes: make([]place, 0, len(lanes))}, groups{}
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

// settle puts the first lane where its next job belongs.
func (c *choice) settle(line *line, first place) {
	key, known, ok := first.lane.next(c.seen[first.lane])
	if !ok {
		line.drop(first)
		return
	}
	line.change(first, place{lane: first.lane, key: key, known: known})
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

// room reports whether the node has room for another job of the lane, or those have who run
// it instead.
func (c *choice) room(lane *Lane) bool {
	if lane.Others != nil {
		return lane.Others.Idle > c.left[lane.Others]
	}
	room, bounded := c.ask.Rooms[lane.Kind]
	return !bounded || room > c.kinds[lane.Kind]
}

// take lets a job start, here or elsewhere.
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

// hungry lists the lanes, from the first on, that have to be known better. Lanes that stand
// for many others are among them only if the choice cannot go on without.
func (c *choice) hungry(line *line, first *Lane, startable func(*Lane) bool) []*Lane {
	rest := line.each()
	slices.SortFunc(rest, func(a, b place) int { return a.key.Compare(b.key) })
	var hungry []*Lane
	for _, p := range rest {
		if !p.known && (!p.lane.rest || p.lane == first) && startable(p.lane) && len(hungry) < mostHungry {
			hungry = append(hungry, p.lane)
		}
	}
	return hungry
}
