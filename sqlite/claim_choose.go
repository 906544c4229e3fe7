package sqlite

import (
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takeChosen takes the first jobs of many lanes, or those that limits allow. It counts the
// use of the limits, finds the lanes with jobs, lets dispatch choose, and starts the chosen
// jobs. If limits leave too little for all, it also considers lanes that only other nodes
// can run, so that a choice does not take what their jobs are entitled to. It compares the
// names of the lanes with the table before it writes anything: a caller that learns of a
// changed lane can then simply claim again.
func (l *claimer) takeChosen(config *sqlstore.LimitConfig, open []sqlstore.Lane, claim driver.Claim) ([]*fairlead.Job, error) {
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
		foreign, err := l.foreignLanes(claim, config)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, foreign...)
	}
	picks, err := l.choose(lanes, claim)
	if err != nil {
		return nil, err
	}
	if l.limitCache.rated {
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
	start := l.startPicks
	if claim.Solo {
		start = func(picks []dispatch.Pick) ([]*fairlead.Job, error) { return l.startSuspects(open, picks) }
	}
	jobs, err := start(picks)
	return l.noteShares(claim.Solo, lanes, jobs), err
}

// namesOf returns the names of the picks' lanes.
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

// busyLanes returns the lanes that have jobs, without suspects, under their limits.
func (l *claimer) busyLanes(open []sqlstore.Lane) ([]*dispatch.Lane, error) {
	if err := l.refreshHeads(); err != nil {
		return nil, err
	}
	lanes := make([]*dispatch.Lane, 0, min(len(open), len(l.laneHeads.busy)))
	for _, lane := range open {
		if head := l.laneHeads.busy[lane.ID]; head != nil {
			head.name = lane.LaneKey
			l.addLimits(&head.Lane, lane)
			lanes = append(lanes, &head.Lane)
		}
	}
	return lanes, nil
}

// foreignLanes returns the lanes with jobs that only other nodes can run. The claim
// leaves to their jobs what limits entitle these to.
func (l *claimer) foreignLanes(claim driver.Claim, config *sqlstore.LimitConfig) ([]*dispatch.Lane, error) {
	nodes, err := l.allNodes()
	if err != nil {
		return nil, err
	}
	otherNodes := sqlstore.NewOtherNodes(claim.Node, claim.Scope, nodes, sqlstore.Time(l.now))
	if !otherNodes.Any() {
		return nil, nil
	}
	var lanes []*dispatch.Lane
	for _, lane := range l.lanes.Known() {
		head := l.laneHeads.busy[lane.ID]
		if head == nil || config.Paused(lane.LaneKey) {
			continue
		}
		if others := otherNodes.Of(lane.LaneKey); others != nil {
			foreign := head.Lane // a copy: to other claims it is not foreign
			foreign.Keys, foreign.Others = slices.Clip(foreign.Keys), others
			l.addLimits(&foreign, lane)
			lanes = append(lanes, &foreign)
		}
	}
	return lanes, nil
}

// choose picks the jobs that the claim takes.
func (l *claimer) choose(lanes []*dispatch.Lane, claim driver.Claim) ([]dispatch.Pick, error) {
	ask := dispatch.Ask{Max: claim.Max, Rooms: claim.Rooms}
	page := l.laneHeads.page(claim.Max)
	return dispatch.ChooseReading(lanes, ask, func(lane *dispatch.Lane) error { return l.readOn(lane, page) })
}

// spend takes the tokens of the picks.
func (l *claimer) spend(picks []dispatch.Pick) error {
	if !l.limitCache.rated {
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

// sideBySide is the number of jobs of a lane from which on it is cheaper to move them
// as one range than each by its id, together with those of other lanes.
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
