package sqlite

import (
	"cmp"
	"container/heap"
	"maps"
	"math"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// readyKey is where a job stands in its lane, and among all lanes.
type readyKey struct {
	turn        int
	startBy, id int64
}

// lowestKey comes before all others.
func lowestKey() readyKey { return readyKey{turn: math.MinInt32} }

func readyKeyOf(job *fairlead.Job) readyKey {
	return readyKey{turn: -job.Priority, startBy: sqlstore.Micros(job.StartBy), id: job.ID}
}

func (k readyKey) compare(other readyKey) int {
	return cmp.Or(cmp.Compare(k.turn, other.turn), cmp.Compare(k.startBy, other.startBy), cmp.Compare(k.id, other.id))
}

// cut is how much a claim takes from a lane: its first n jobs, up to a key.
// There are no gaps, as the jobs of a lane are of one kind and stand in order.
type cut struct {
	n    int
	last readyKey
}

// choice is the jobs that a claim takes, in order.
type choice struct {
	claim fairlead.Claim
	rooms map[string]int
	ids   []int64
	cuts  map[int32]cut
}

func newChoice(claim fairlead.Claim) *choice {
	return &choice{claim: claim, rooms: maps.Clone(claim.Rooms), cuts: map[int32]cut{}}
}

func (c *choice) full() bool { return len(c.ids) >= c.claim.Max }

// take adds the next job of a lane unless there is no more room for its kind.
func (c *choice) take(lane sqlstore.Lane, key readyKey) bool {
	if room, bounded := c.rooms[lane.Kind]; bounded {
		if room <= 0 {
			return false
		}
		c.rooms[lane.Kind]--
	}
	c.ids = append(c.ids, key.id)
	c.cuts[lane.ID] = cut{n: c.cuts[lane.ID].n + 1, last: key}
	return true
}

// merge chooses the first jobs of many lanes together.
func (t *txn) merge(lanes []sqlstore.Lane, claim fairlead.Claim) (*choice, error) {
	if err := t.refreshHeads(); err != nil {
		return nil, err
	}
	m := merger{txn: t}
	for _, lane := range lanes {
		if first, busy := t.heads.first[lane.ID]; busy {
			m.cursors = append(m.cursors, &cursor{lane: lane, next: first})
		}
	}
	heap.Init(&m)
	m.page = claim.Max/max(1, m.Len()) + 2
	chosen := newChoice(claim)
	for !chosen.full() && m.Len() > 0 {
		first := m.cursors[0]
		if len(first.keys) == 0 {
			if err := m.fill(); err != nil {
				return nil, err
			}
			continue // it may not be the first any more
		}
		if !chosen.take(first.lane, first.next) {
			heap.Pop(&m)
			continue
		}
		m.advance()
	}
	return chosen, nil
}

// merger is a heap of lanes by their next job.
type merger struct {
	*txn
	page    int // how many keys of a lane are read at a time
	cursors []*cursor
}

// cursor is where a claim stands in a lane.
type cursor struct {
	lane sqlstore.Lane
	next readyKey   // of the next job, or a key before it as long as keys is empty
	keys []readyKey // of the next jobs
	end  bool       // whether keys reach the lane's end
}

// Len is part of heap.Interface.
func (m *merger) Len() int { return len(m.cursors) }

// Less is part of heap.Interface.
func (m *merger) Less(i, j int) bool { return m.cursors[i].next.compare(m.cursors[j].next) < 0 }

// Swap is part of heap.Interface.
func (m *merger) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }

// Push is part of heap.Interface.
func (m *merger) Push(x any) { m.cursors = append(m.cursors, x.(*cursor)) }

// Pop is part of heap.Interface.
func (m *merger) Pop() any {
	last := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return last
}

// fill reads the next keys of the first lane.
func (m *merger) fill() (err error) {
	c := m.cursors[0]
	if c.keys, err = m.laneFrom(c.lane.ID, c.next, m.page); err != nil {
		return err
	}
	c.end = len(c.keys) < m.page
	m.settleFirst()
	return nil
}

// advance steps over the first job of all.
func (m *merger) advance() {
	c := m.cursors[0]
	passed := c.keys[0]
	if c.keys = c.keys[1:]; len(c.keys) == 0 && !c.end {
		c.next = readyKey{turn: passed.turn, startBy: passed.startBy, id: passed.id + 1}
		m.heads.first[c.lane.ID] = c.next
		heap.Fix(m, 0)
		return
	}
	m.settleFirst()
}

// settleFirst puts the first lane where its next job belongs.
func (m *merger) settleFirst() {
	c := m.cursors[0]
	if len(c.keys) == 0 {
		delete(m.heads.first, c.lane.ID)
		heap.Pop(m)
		return
	}
	c.next = c.keys[0]
	m.heads.first[c.lane.ID] = c.next
	heap.Fix(m, 0)
}

// laneFrom lists the ready jobs of a lane from a key on.
func (t *txn) laneFrom(lane int32, from readyKey, limit int) ([]readyKey, error) {
	var keys []readyKey
	err := t.each(t.sql.LaneNext, []any{lane, from.turn, from.startBy, from.id, limit}, func(row sqlstore.Scanner) error {
		var key readyKey
		err := row.Scan(&key.turn, &key.startBy, &key.id)
		keys = append(keys, key)
		return err
	})
	return keys, err
}
