package sqlite

import (
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takeChosen takes the first jobs of many lanes, or those that limits allow.
func (l *claimer) takeChosen(rules *sqlstore.Rules, open []sqlstore.Lane, claim driver.Claim) ([]*fairlead.Job, error) {
	if _, err := l.limits(); err != nil {
		return nil, err
	}
	busy := l.busyLanes
	if claim.Solo {
		busy = l.suspectLanes
	}
	lanes, err := busy(open)
	if err != nil {
		return nil, err
	}
	if !claim.Solo && sqlstore.Tight(lanes, claim.Max) {
		strange, err := l.foreignLanes(claim, rules)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, strange...)
	}
	picks, err := l.choose(lanes, claim)
	if err != nil {
		return nil, err
	}
	if l.book.rated {
		l.wakes.await(dispatch.NextToken(lanes, picks))
	}
	if len(picks) == 0 {
		return nil, nil
	}
	if err := l.compareLanes(namesOf(open, picks)); err != nil {
		return nil, err
	}
	if err := l.spend(picks); err != nil {
		return nil, err
	}
	if claim.Solo {
		return l.startSuspects(open, picks)
	}
	return l.startPicks(picks)
}

// namesOf are the names of the lanes of picks.
func namesOf(open []sqlstore.Lane, picks []dispatch.Pick) map[int32]sqlstore.LaneKey {
	picked := make(map[int32]bool, len(picks))
	for _, pick := range picks {
		picked[pick.Lane.ID] = true
	}
	names := make(map[int32]sqlstore.LaneKey, len(picked))
	for _, lane := range open {
		if picked[lane.ID] {
			names[lane.ID] = lane.LaneKey
		}
	}
	return names
}

// busyLanes are the lanes that have jobs, suspects aside, under their limits.
func (l *claimer) busyLanes(open []sqlstore.Lane) ([]*dispatch.Lane, error) {
	if err := l.refreshHeads(); err != nil {
		return nil, err
	}
	lanes := make([]*dispatch.Lane, 0, min(len(open), len(l.laneHeads.busy)))
	for _, lane := range open {
		if head := l.laneHeads.busy[lane.ID]; head != nil {
			head.name = lane.LaneKey
			l.book.govern(&head.Lane, lane)
			lanes = append(lanes, &head.Lane)
		}
	}
	return lanes, nil
}

// foreignLanes are the lanes with jobs to which only other nodes can give the
// slots that limits leave.
func (l *claimer) foreignLanes(claim driver.Claim, rules *sqlstore.Rules) ([]*dispatch.Lane, error) {
	nodes, err := l.allNodes()
	if err != nil {
		return nil, err
	}
	strangers := sqlstore.NewStrangers(claim.Node, claim.Scope, nodes, sqlstore.Time(l.now))
	if !strangers.Any() {
		return nil, nil
	}
	var lanes []*dispatch.Lane
	for _, lane := range l.lanes.Known() {
		head := l.laneHeads.busy[lane.ID]
		if head == nil || rules.Paused(lane.LaneKey) {
			continue
		}
		if others := strangers.Of(lane.LaneKey); others != nil {
			strange := head.Lane // a copy: to other claims it is not strange
			strange.Keys, strange.Others = slices.Clip(strange.Keys), others
			l.book.govern(&strange, lane)
			lanes = append(lanes, &strange)
		}
	}
	return lanes, nil
}

// choose picks what the claim takes.
func (l *claimer) choose(lanes []*dispatch.Lane, claim driver.Claim) ([]dispatch.Pick, error) {
	ask := dispatch.Ask{Max: claim.Max, Rooms: claim.Rooms}
	page := l.laneHeads.page(claim.Max)
	return dispatch.ChooseReading(lanes, ask, func(lane *dispatch.Lane) error { return l.readOn(lane, page) })
}

// spend takes the tokens of the picks.
func (l *claimer) spend(picks []dispatch.Pick) error {
	if !l.book.rated {
		return nil
	}
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

// sideBySide is from how many jobs of a lane on it is cheaper to move them as
// one range than each by its id, together with those of other lanes.
const sideBySide = 3

// startPicks starts the first jobs of some lanes.
func (l *claimer) startPicks(picks []dispatch.Pick) ([]*fairlead.Job, error) {
	taken := map[*dispatch.Lane]int{}
	ids := make([]int64, len(picks))
	for i, pick := range picks {
		taken[pick.Lane]++
		ids[i] = pick.ID
	}
	names := make(map[int32]sqlstore.LaneKey, len(taken))
	var apart []int64
	for lane, n := range taken {
		names[lane.ID] = l.laneHeads.busy[lane.ID].name
		if n < sideBySide {
			for _, key := range lane.Keys[:n] {
				apart = append(apart, key.ID)
			}
		} else if err := l.startUpto(lane.ID, n, lane.Keys[n-1]); err != nil {
			return nil, err
		}
		l.laneHeads.passed(lane, n)
	}
	if err := l.startApart(apart); err != nil {
		return nil, err
	}
	return l.loadStarted(names, ids)
}
