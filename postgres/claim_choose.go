package postgres

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// fewLanes is the least number of lanes considered at once, even if fewer jobs are
// asked for.
const fewLanes = 16

// limitedClaim is a claim from lanes of which some are under limits. It takes three
// round trips: it looks which lanes have jobs, then locks the limits of the lanes that
// it may reach and reads both, then takes what dispatch chooses. If there are foreign
// lanes under limits, one more round trip comes first. A claim that has locked the
// limits of a lane is the only one that takes jobs from it, so what it read under the
// locks is still there to be taken.
//
// The first round trip is not part of the transaction. It only decides which limits to lock.
// Other claims may take the jobs that it found until the locks are held, so the lanes are
// read again under the locks, unless this process is the only one that claims from them. A
// claim locks limits before jobs, and limits that are not of tenants in the same order as all
// other claims, so claims do not wait for each other in a circle. Transactions that only end
// jobs do not lock limits: they add rows to quota_delta, which the next claim subtracts.
type limitedClaim struct {
	*claimer
	known      *limitConfig
	open       []openLane           // served by this claim
	foreign    []openLane           // not served, but under limits
	fair       *sqlstore.FairClaim  // what tenants share by weight; nil: nothing
	otherNodes *sqlstore.OtherNodes // the nodes that run the foreign lanes; nil if there are no foreign lanes
	many       bool                 // there are so many lanes that the process remembers where their jobs begin
	trusting   bool                 // the jobs themselves are remembered too: no other claim takes them
	looked     []*busyLane          // lanes that were read
	line       candidates           // lanes with jobs that have not been considered yet
	busy       []*busyLane          // lanes that have been considered, in order: first all that tenants share by weight
	weighed    int                  // how many those are
	unweighed  []candidate          // further lanes that tenants share by weight
	rests      dispatch.Rests       // that stand for them
	shared     []int32              // all limits of these lanes that are not of tenants, in order
	guaranteed int                  // how many lanes belong to a tenant with a minimum
	cost       time.Duration        // how long it took to look for lanes with jobs
	slack      int                  // how many extra jobs to choose, because other transactions lock some

	considered int                   // how many of busy, in this try
	lanes      []*dispatch.Lane      // the considered lanes whose limits this claim has locked
	accounts   map[int32]*claimLimit // the limits this claim has locked
	free       map[int32]bool        // the limits that are not full, locked or not

	changed bool          // the limits have changed
	passed  bool          // tenants were left to other claims
	missed  bool          // fewer jobs were taken than were chosen
	token   time.Duration // until a rate allows another job to start; negative if no job waits for a rate
}

// claimLimited claims within limits. It reports whether another attempt may find more
// jobs at once.
func (c *claimer) claimLimited(ctx context.Context, known *limitConfig, open openLanes) (more bool, err error) {
	line := lines.Get().(*candidates)
	defer lines.Put(line)
	if c.claim.Solo {
		open.foreign = nil // a claim of suspects leaves nothing to other nodes
	}
	l := &limitedClaim{claimer: c, known: known, open: open.lanes, foreign: open.foreign, line: (*line)[:0], slack: int(c.merges.slack.Load()), token: -1}
	l.fair = c.Store.fair.Open(c.claim.Node, known.LimitConfig)
	defer func() { *line = l.line[:0] }()
	if err := l.readOtherNodes(ctx); err != nil {
		return false, err
	}
	if changed, err := l.look(ctx); changed || err != nil {
		return changed, err
	}
	before := len(c.jobs)
	if len(l.line)+l.weighed > 0 {
		err := c.inRoundTrips(ctx, func(ctx context.Context, t *roundTrips) error {
			l.restart(before)
			return l.run(ctx, t)
		})
		if err != nil {
			c.forget(before)
			return false, err
		}
	}
	if l.changed {
		_, err := c.readLimits(ctx)
		return true, err
	}
	taken := len(c.jobs) - before
	c.limitedTake.Store((c.limitedTake.Load() + int64(taken) + 1) / 2)
	c.left -= taken
	c.patient = l.passed
	l.noteTakes(before)
	l.noteShares(before)
	if l.token > 0 {
		c.tokens.In(l.token)
	}
	return (l.passed || l.missed) && c.left > 0, nil
}

// look finds the lanes that have jobs. It reports whether the limits have changed.
func (l *limitedClaim) look(ctx context.Context) (changed bool, err error) {
	begun := time.Now()
	var s claimCheck
	uncertain := l.splitLanes(begun)
	surveyed := l.many && l.laneHeads.surveyPays(len(l.line), uncertain, begun)
	if surveyed {
		if uncertain, err = l.survey(ctx, uncertain, &s); err != nil {
			return false, err
		}
	}
	for _, d := range uncertain {
		lane := l.begin(d.open, begun)
		lane.version = d.version
		l.looked = append(l.looked, lane)
	}
	if l.busyEnough() {
		for _, lane := range l.looked {
			l.line = append(l.line, candidate{open: &lane.open, from: dispatch.Front})
		}
		l.looked = nil
	}
	if len(l.looked)+len(l.foreign) == 0 && len(l.line) > 0 {
		l.lineUp() // everything needed is known or is read later
		return false, nil
	}
	if !surveyed || len(l.looked) > 0 {
		if err := l.lookInto(ctx, &s, begun); err != nil {
			return false, err
		}
	}
	for _, lane := range l.looked {
		if view := lane.view(); !view.empty() {
			l.line = append(l.line, candidate{open: &lane.open, version: lane.version, view: view, from: view.begin()})
		}
	}
	if len(l.foreign) > 0 {
		l.dropForeignLanes()
	}
	l.lineUp()
	return s.evaluate(ctx, l.claimer, l.known)
}

// lookInto reads where the jobs of the looked-at lanes begin.
func (l *limitedClaim) lookInto(ctx context.Context, s *claimCheck, begun time.Time) error {
	page := 1
	if l.trusting {
		page = manyKeys
	}
	heads := l.newLaneReading(l.looked, page)
	if err := l.claimer.run(ctx, s.call(l.claimer), heads.call(l.claimer)); err != nil {
		return err
	}
	l.cost = time.Since(begun)
	heads.done()
	if l.many {
		l.laneHeads.learn(l.looked, begun)
	}
	return nil
}

// busyEnough reports whether to read the lanes directly under the locks: there are few
// of them and so many jobs that most lanes have some.
func (l *limitedClaim) busyEnough() bool {
	return !l.many && len(l.looked) <= 4*fewLanes && len(l.foreign) == 0 && !l.claim.Solo && l.limitedTake.Load() > 4*fewLanes
}

// splitLanes returns the lanes that have to be read and lines up those that are known
// to have jobs.
func (l *limitedClaim) splitLanes(now time.Time) (uncertain []uncertainLane) {
	l.many = len(l.open)+len(l.foreign) > manyLanes && !l.claim.Solo
	l.trusting = l.many && l.laneHeads.alone(now)
	for _, lanes := range [][]openLane{l.withRoom(l.open), l.foreign} {
		if l.many {
			l.line, uncertain = l.laneHeads.split(lanes, now, l.line, uncertain)
			continue
		}
		for i := range lanes {
			uncertain = append(uncertain, uncertainLane{open: &lanes[i]})
		}
	}
	return uncertain
}

// withRoom returns the lanes whose kind the node has room for.
func (l *limitedClaim) withRoom(lanes []openLane) []openLane {
	if len(l.claim.Rooms) == 0 {
		return lanes
	}
	return slices.DeleteFunc(slices.Clone(lanes), func(open openLane) bool { return l.room(open.Kind) <= 0 })
}

// lineUp orders the candidates and finds the limits that they share.
func (l *limitedClaim) lineUp() {
	seen := map[int32]bool{}
	for i := range l.line {
		c := &l.line[i]
		if c.promised = l.promised(c.open); c.promised {
			l.guaranteed++
		}
		if !c.open.limited() {
			continue
		}
		for _, id := range c.open.hold.shared {
			if !seen[id] {
				seen[id] = true
				l.shared = append(l.shared, id)
			}
		}
	}
	slices.Sort(l.shared)
	l.weigh()
	heap.Init(&l.line)
}

// restart resets what a try that was rolled back has changed.
func (l *limitedClaim) restart(before int) {
	l.forget(before)
	for _, lane := range l.busy {
		lane.restart()
	}
	l.considered, l.lanes = 0, nil
	l.accounts, l.free = map[int32]*claimLimit{}, map[int32]bool{}
	l.changed, l.passed, l.missed, l.token = false, false, false, -1
}

// run does everything that happens in the transaction. It locks the first lot of limits and
// reads their lanes, and then lets dispatch choose. If the choice depends on jobs that
// were not read, run reads more and chooses again. The last statement leases the chosen jobs.
// Until then other transactions may lock or delete chosen jobs, for example to cancel
// them; that statement passes over these.
func (l *limitedClaim) run(ctx context.Context, t *roundTrips) error {
	begun := time.Now()
	if err := l.enter(ctx, t); err != nil || l.changed {
		return err
	}
	l.cost = max(l.cost, time.Since(begun))
	for {
		picks, toRead := dispatch.Choose(l.choices(), l.ask())
		if len(toRead) == 0 {
			return l.take(ctx, t, picks)
		}
		if err := l.readMore(ctx, t, toRead); err != nil {
			return err
		}
	}
}

// ask describes what the claim still wants.
func (l *limitedClaim) ask() dispatch.Ask {
	ask := dispatch.Ask{Max: l.left + l.slack, Rooms: make(map[string]int, len(l.claim.Rooms))}
	for kind := range l.claim.Rooms {
		ask.Rooms[kind] = l.room(kind)
	}
	return ask
}

// choices returns the lanes to choose from. One lane without limits stands for all
// lanes that have not been considered yet: none of their jobs comes before its own.
func (l *limitedClaim) choices() []*dispatch.Lane {
	rest := &dispatch.Lane{}
	lanes := l.rests.Append(l.lanes[:len(l.lanes):len(l.lanes)])
	switch {
	case l.considered < len(l.busy):
		rest.From = l.busy[l.considered].From
	case len(l.line) > 0:
		rest.From = l.line[0].from
	default:
		return lanes
	}
	return append(lanes, rest)
}

// enter begins the transaction. It locks the limits that the claim waits for, all at
// once and in the same order in every claim: first those that are not of tenants, then,
// if the claim is patient, those of tenants. Limits of tenants that another claim has locked
// are passed over at first: there are many, and another tenant's jobs may do. A try that
// passed over some makes the next one patient.
//
// The lock of the limits' version comes first, and check reads the version under it, so
// what the process knows of limits and pauses holds until the commit, or run ends here.
func (l *limitedClaim) enter(ctx context.Context, t *roundTrips) error {
	var s claimCheck
	calls := []call{{sql: l.pin() + l.sql.ShareLimits + l.sql.Linger, args: []any{l.limitsLock}}, s.call(l.claimer)}
	lot := l.nextLot(l.weighed + l.guaranteed + max(l.left, fewLanes))
	tenants := l.tenants(lot)
	if len(l.shared) > 0 {
		calls = append(calls, call{sql: l.sql.LockLimits, args: []any{l.shared}})
	}
	if l.patient {
		calls = append(calls, call{sql: l.sql.LockLimits, args: []any{tenants}})
	}
	err := l.consider(ctx, lot, nil, slices.Concat(l.shared, tenants), func(ctx context.Context, more ...call) error {
		return t.first(ctx, append(calls, more...)...)
	})
	if err == nil && !s.alive {
		err = l.deadNode()
	}
	l.changed = s.version != l.known.Version
	return err
}

// readMore reads more jobs of lanes, or considers more lanes, or both.
func (l *limitedClaim) readMore(ctx context.Context, t *roundTrips, toRead []*dispatch.Lane) error {
	var lot, known []*busyLane
	for _, lane := range toRead {
		if l.rests.Has(lane) {
			lot = append(lot, l.weighRest()...)
		} else if i := slices.IndexFunc(l.busy[:l.considered], func(b *busyLane) bool { return &b.Lane == lane }); i >= 0 {
			known = append(known, l.busy[i])
		} else {
			lot = append(lot, l.nextLot(l.considered)...)
		}
	}
	return l.consider(ctx, lot, known, l.tenants(lot), t.run)
}

// nextLot returns the next lanes to consider.
func (l *limitedClaim) nextLot(n int) []*busyLane {
	from, now := l.considered, time.Now()
	for len(l.busy) < from+n && len(l.line) > 0 {
		l.busy = append(l.busy, l.resume(l.line.first(), now))
	}
	l.considered = min(from+n, len(l.busy))
	return l.busy[from:l.considered]
}

// consider locks limits and reads jobs in one round trip: those of a lot of new lanes
// and of some known ones. The limits come first: jobs must be read after the locks are held,
// with a snapshot that shows what earlier holders of the locks have taken. A lane whose
// limits could not be locked is read in vain, which costs less than another round trip.
func (l *limitedClaim) consider(ctx context.Context, lot, known []*busyLane, limits []int32, run func(context.Context, ...call) error) error {
	var calls []call
	if len(limits) > 0 {
		calls = append(calls, call{sql: l.sql.FoldLimits, args: []any{limits}, each: l.readLimit})
	}
	lanes := known
	for _, lane := range lot {
		if len(lane.Keys) < 2 && !lane.All { // one job to take, and one to know what comes after it
			lanes = append(lanes, lane)
		}
	}
	reading := l.newLaneReading(lanes, max(2*l.expected()/max(len(lanes), 1)+1, 2)) // most lanes hold no more of the taken jobs than that
	if len(lanes) > 0 {
		calls = append(calls, reading.call(l.claimer))
	}
	if err := run(ctx, calls...); err != nil {
		return err
	}
	reading.done()
	for _, lane := range lot {
		l.admit(lane)
	}
	return nil
}

// expected estimates how many jobs the claim will take, from what the last claims took:
// limits may allow far fewer than there is room for.
func (l *limitedClaim) expected() int {
	return min(l.left+l.slack, max(2*int(l.limitedTake.Load()), fewLanes))
}

// admit adds a lane to the choice if this claim has locked all its limits.
func (l *limitedClaim) admit(lane *busyLane) {
	if !lane.open.limited() {
		l.lanes = append(l.lanes, &lane.Lane)
		return
	}
	full, busy := false, false
	for _, id := range lane.open.hold.limits {
		a := l.accounts[id]
		switch {
		case a != nil:
			lane.Limits = append(lane.Limits, &a.Limit)
			if id == lane.open.hold.tenant {
				lane.Tenant = &a.Limit
			}
		case l.free[id]:
			busy = true
		default:
			full = true
		}
	}
	switch {
	case full:
	case busy && lane.others != nil: // another claim is taking jobs of this lane
	case busy:
		l.passed = true
	default:
		l.lanes = append(l.lanes, &lane.Lane)
	}
}

// take leases the chosen jobs and writes the limits.
func (l *limitedClaim) take(ctx context.Context, t *roundTrips, picks []dispatch.Pick) error {
	l.token = dispatch.NextToken(l.lanes, picks[:min(l.left, len(picks))])
	if len(picks) == 0 {
		return nil
	}
	before := len(l.jobs)
	args := slices.Concat([]any{l.solo(), int64(l.claim.Node)}, l.pickArgs(picks), l.limitArgs(picks), []any{l.left, l.nodeToken}, l.nameLanes(l.lanesOf(picks)))
	if err := t.last(ctx, call{sql: l.sql.ClaimChosen, args: args, each: l.reader(0)}); err != nil {
		return err
	}
	taken := len(l.jobs) - before
	l.missed = taken < min(l.left, len(picks))
	l.noteLocked(picks, before)
	l.merges.note(taken < l.left && len(picks) == l.left+l.slack, l.slack, l.left+l.slack)
	if l.trusting && l.missed && taken <= len(picks)/2 {
		l.laneHeads.share(time.Now())
	}
	return nil
}

// noteLocked remembers, for the next try, which jobs other transactions have locked:
// chosen jobs that were not taken although later ones were, or although there was room.
func (l *limitedClaim) noteLocked(picks []dispatch.Pick, before int) {
	taken := make(map[int64]bool, len(l.jobs)-before)
	for _, job := range l.jobs[before:] {
		taken[job.ID] = true
	}
	last := len(picks)
	if !l.missed {
		for last > 0 && !taken[picks[last-1].ID] {
			last--
		}
	}
	for _, pick := range picks[:last] {
		if !taken[pick.ID] {
			l.locked[pick.ID] = true
		}
	}
}

// lanesOf returns the names of the picks' lanes.
func (l *limitedClaim) lanesOf(picks []dispatch.Pick) map[int32]sqlstore.LaneKey {
	names := make(map[int32]sqlstore.LaneKey, l.considered)
	for _, lane := range l.busy[:l.considered] {
		names[lane.ID] = lane.open.LaneKey
	}
	lanes := map[int32]sqlstore.LaneKey{}
	for _, pick := range picks {
		lanes[pick.Lane.ID] = names[pick.Lane.ID]
	}
	return lanes
}

func (l *limitedClaim) pickArgs(picks []dispatch.Pick) []any {
	n := len(picks)
	lanes, turns, startBy, ids, held := make([]int32, n), make([]int16, n), make([]int64, n), make([]int64, n), make([]*string, n)
	holds := make(map[int32]*hold, l.considered)
	for _, lane := range l.busy[:l.considered] {
		holds[lane.ID] = lane.open.hold
	}
	for i, pick := range picks {
		lanes[i], turns[i], startBy[i], ids[i], held[i] = pick.Lane.ID, pick.Turn, pick.StartBy, pick.ID, holds[pick.Lane.ID].nameOrNull()
	}
	return []any{lanes, turns, startBy, ids, held}
}

// noteTakes advances the cursors of the lanes that were read, and remembers where their
// jobs begin now.
func (l *limitedClaim) noteTakes(before int) {
	takes, _ := l.takes(before)
	considered, now := l.busy[:l.considered], time.Now()
	looked := make(map[int32]claimStart, len(l.looked)) // by lane; considered lanes are removed from it
	for _, lane := range l.looked {
		looked[lane.ID] = lane.open.outset
	}
	for _, lane := range considered {
		o, wasLooked := looked[lane.ID]
		if !wasLooked || !lane.open.outset.memory {
			o = lane.open.outset // the lane was read again
		}
		delete(looked, lane.ID)
		h := takes[lane.ID]
		h.cost, h.complete, h.reached = l.cost, lane.All && h.jobs() == len(lane.Keys), h.end()
		l.laneCursors.note(o, h, now)
	}
	for _, lane := range l.looked {
		if o, only := looked[lane.ID]; only {
			l.laneCursors.note(o, laneTake{cost: l.cost, complete: lane.view().empty(), reached: front}, now)
		}
	}
	if !l.many {
		return
	}
	for _, lane := range considered {
		lane.passedOver = lane.passedOver || slices.ContainsFunc(lane.Keys, func(key dispatch.Key) bool { return l.locked[key.ID] })
	}
	taken := make(map[int64]bool, len(l.jobs)-before)
	for _, job := range l.jobs[before:] {
		taken[job.ID] = true
	}
	l.laneHeads.pass(considered, taken)
}
