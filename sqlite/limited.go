package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takeLimited takes the first jobs that limits allow.
func (l *leases) takeLimited(rules *sqlstore.Rules, open []sqlstore.Lane, claim fairlead.Claim) ([]*fairlead.Job, error) {
	limits, err := l.limits(rules)
	if err != nil {
		return nil, err
	}
	under := func(lane sqlstore.Lane) *dispatch.Lane { return governed(lane, rules, limits) }
	busy := l.busyLanes
	if claim.Solo {
		busy = l.suspectLanes
	}
	lanes, err := busy(open, under)
	if err != nil {
		return nil, err
	}
	if !claim.Solo && sqlstore.Tight(lanes, claim.Max) {
		strange, err := l.strangeLanes(claim, rules, under)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, strange...)
	}
	picks, err := l.choose(lanes, claim)
	if err != nil {
		return nil, err
	}
	l.news.await(dispatch.NextToken(lanes, picks))
	if len(picks) == 0 {
		return nil, nil
	}
	if err := l.spend(picks); err != nil {
		return nil, err
	}
	if claim.Solo {
		return l.startSuspects(open, picks)
	}
	return l.startPicks(open, lanes, picks)
}

// governed is a lane under its limits.
func governed(lane sqlstore.Lane, rules *sqlstore.Rules, limits map[int32]*dispatch.Limit) *dispatch.Lane {
	governed := &dispatch.Lane{ID: lane.ID, Kind: lane.Kind}
	for _, id := range rules.Of(lane.LaneKey) {
		governed.Limits = append(governed.Limits, limits[id])
	}
	if id, limited := rules.Tenant(lane.LaneKey); limited {
		governed.Tenant = limits[id]
	}
	return governed
}

// busyLanes are the lanes that have jobs, suspects aside.
func (l *leases) busyLanes(open []sqlstore.Lane, governed func(sqlstore.Lane) *dispatch.Lane) ([]*dispatch.Lane, error) {
	if err := l.refreshHeads(); err != nil {
		return nil, err
	}
	var lanes []*dispatch.Lane
	for _, lane := range open {
		if first, busy := l.heads.first[lane.ID]; busy {
			g := governed(lane)
			g.From = first.dispatched()
			lanes = append(lanes, g)
		}
	}
	return lanes, nil
}

// strangeLanes are the lanes with jobs to which only other nodes can give the
// slots that limits leave.
func (l *leases) strangeLanes(claim fairlead.Claim, rules *sqlstore.Rules, governed func(sqlstore.Lane) *dispatch.Lane) ([]*dispatch.Lane, error) {
	nodes, err := l.allNodes()
	if err != nil {
		return nil, err
	}
	strangers := sqlstore.NewStrangers(claim.Node, claim.Scope, nodes, sqlstore.Time(l.now))
	if !strangers.Any() {
		return nil, nil
	}
	var lanes []sqlstore.Lane
	for _, lane := range l.lanes.Known() {
		if strangers.Of(lane.LaneKey) != nil && !rules.Paused(lane.LaneKey) {
			lanes = append(lanes, lane)
		}
	}
	return l.busyLanes(lanes, func(lane sqlstore.Lane) *dispatch.Lane {
		g := governed(lane)
		g.Others = strangers.Of(lane.LaneKey)
		return g
	})
}

// choose picks what the claim takes.
func (l *leases) choose(lanes []*dispatch.Lane, claim fairlead.Claim) ([]dispatch.Pick, error) {
	ask := dispatch.Ask{Max: claim.Max, Rooms: claim.Rooms}
	page := claim.Max/max(1, len(lanes)) + 2
	for {
		picks, hungry := dispatch.Choose(lanes, ask)
		if len(hungry) == 0 {
			return picks, nil
		}
		for _, lane := range hungry {
			if err := l.readOn(lane, page); err != nil {
				return nil, err
			}
		}
	}
}

// readOn reads the next jobs of a lane.
func (l *leases) readOn(lane *dispatch.Lane, page int) error {
	from := lane.From
	if n := len(lane.Keys); n > 0 {
		from = lane.Keys[n-1]
		from.ID++
	}
	keys, err := l.laneFrom(lane.ID, readyKey{turn: int(from.Turn), startBy: from.StartBy, id: from.ID}, page)
	for _, key := range keys {
		lane.Keys = append(lane.Keys, key.dispatched())
	}
	lane.All = len(keys) < page
	return err
}

func (k readyKey) dispatched() dispatch.Key {
	return dispatch.Key{Turn: int16(max(k.turn, -1<<15)), StartBy: k.startBy, ID: k.id}
}

// spend takes the tokens of the picks.
func (l *leases) spend(picks []dispatch.Pick) error {
	for limit, n := range dispatch.Spent(picks) {
		if limit.Rate == 0 {
			continue
		}
		if err := l.must(1, l.sql.SetTokens, limit.Tokens-float64(n), l.now, limit.ID); err != nil {
			return err
		}
	}
	return nil
}

// startPicks starts the first jobs of some lanes.
func (l *leases) startPicks(open []sqlstore.Lane, lanes []*dispatch.Lane, picks []dispatch.Pick) ([]*fairlead.Job, error) {
	cuts := map[int32]cut{}
	ids := make([]int64, len(picks))
	for i, pick := range picks {
		last := readyKey{turn: int(pick.Turn), startBy: pick.StartBy, id: pick.ID}
		cuts[pick.Lane.ID] = cut{n: cuts[pick.Lane.ID].n + 1, last: last}
		ids[i] = pick.ID
	}
	for lane, cut := range cuts {
		if err := l.start(lane, cut); err != nil {
			return nil, err
		}
	}
	for _, lane := range lanes {
		l.heads.passed(lane, cuts[lane.ID].n)
	}
	return l.loadStarted(open, ids)
}

// passed remembers where a lane begins now that its first n jobs are gone.
func (h *heads) passed(lane *dispatch.Lane, n int) {
	switch {
	case n < len(lane.Keys):
		first := lane.Keys[n]
		h.first[lane.ID] = readyKey{turn: int(first.Turn), startBy: first.StartBy, id: first.ID}
	case lane.All:
		delete(h.first, lane.ID)
	case n > 0:
		last := lane.Keys[n-1]
		h.first[lane.ID] = readyKey{turn: int(last.Turn), startBy: last.StartBy, id: last.ID + 1}
	}
}
