package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Claim leases ready jobs to a live node. It returns ErrLeaseLost if the node is not
// alive.
//
// It is one transaction:
//
//  1. open locks the version of the limits, shared: limits and pauses cannot change until
//     the claim ends.
//  2. take chooses jobs, locks the limits of their lanes, and then locks the jobs.
//  3. lease takes a fence and moves the jobs to running. It takes the fence after the jobs are
//     locked: an earlier claim of the same job has committed by then, under a smaller fence.
//  4. keepLimits writes how many jobs the limits now count.
//
// What the claim has learnt of the lanes is remembered only after the commit, because the
// transaction may fail.
func (s *Store) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.refreshLanesSometimes(ctx); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	var c *claimer
	var jobs []*fairlead.Job
	own, err := s.ownNode(ctx, claim.Node)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	if err := s.fair.Share(ctx, claim.Node); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	err = s.inTx(ctx, "claim", func(ctx context.Context, t *txn) (err error) {
		if c, err = t.open(ctx, claim, own); err != nil {
			return err
		}
		if err := c.take(ctx); err != nil {
			return err
		}
		c.lookAgain()
		if jobs, err = c.lease(ctx); err != nil {
			return err
		}
		return c.keepLimits(ctx)
	})
	if errors.Is(err, fairlead.ErrLeaseLost) {
		err = firstError(s.lose(ctx, claim.Node), err)
	}
	if err != nil {
		return nil, err
	}
	c.remember()
	c.noteShares(jobs)
	s.fair.ShareFirst(ctx, claim.Node)
	return jobs, nil
}

// open begins a claim of a live node. It reads what is paused and limited, which holds
// until the claim ends.
func (t *txn) open(ctx context.Context, claim driver.Claim, own ownNode) (*claimer, error) {
	version, until, err := t.opening(ctx, claim.Node, own)
	if err != nil {
		return nil, err
	}
	config, err := t.limitsOfVersion(ctx, version)
	if err != nil {
		return nil, err
	}
	return &claimer{
		bytes: sqlstore.ClaimBytes{Most: claim.Bytes},
		txn:   t, Claim: claim, own: own, until: until, config: config, rooms: newRooms(claim),
		fair: t.fair.Open(claim.Node, config.LimitConfig),
	}, nil
}

// opening reads the version of the limits and when the node's lease ends. It fails if
// the lease has ended.
func (t *txn) opening(ctx context.Context, node fairlead.NodeID, own ownNode) (version, until int64, err error) {
	var now int64
	var lease sql.NullInt64
	question := t.tx.StmtContext(ctx, t.claimOpening) //nolint:sqlclosecheck // it ends with the transaction
	if err := question.QueryRowContext(ctx, node, own.token, own.beat).Scan(&version, &now, &lease); err != nil {
		return 0, 0, err
	}
	if !lease.Valid || lease.Int64 <= now {
		return 0, 0, driver.NodeLost(node)
	}
	return version, lease.Int64, nil
}

// mustBeLeased checks again if the lease had ended when the jobs were locked: on a
// server that stood still, that may be long after the claim began.
func (c *claimer) mustBeLeased(ctx context.Context) error {
	if c.now < c.until {
		return nil
	}
	_, _, err := c.opening(ctx, c.Node, c.own)
	return err
}

// rooms holds how many jobs a claim may still take, in all and of each kind.
type rooms struct {
	left  int
	kinds map[string]int // only kinds with a bound
}

func newRooms(claim driver.Claim) *rooms {
	r := &rooms{left: claim.Max, kinds: make(map[string]int, len(claim.Rooms))}
	for kind, room := range claim.Rooms {
		r.kinds[kind] = room
	}
	return r
}

func (r *rooms) of(kind string) int {
	if room, bounded := r.kinds[kind]; bounded {
		return min(room, r.left)
	}
	return r.left
}

func (r *rooms) use(kind string) {
	r.left--
	if _, bounded := r.kinds[kind]; bounded {
		r.kinds[kind]--
	}
}

// claimer is a claim in progress.
type claimer struct {
	*txn
	driver.Claim
	own    ownNode
	until  int64 // when the node's lease ends, as far as the claim knows
	config *limitConfig
	fair   *sqlstore.FairClaim // what tenants share by weight; nil: nothing
	rooms  *rooms
	taken  []*taken
	bytes  sqlstore.ClaimBytes
	now    int64 // the clock when the last of taken was locked: whatever made them ready came before

	views     map[int32]*laneView // of all lanes that were read
	names     []sqlstore.Lane     // of the lanes whose jobs are locked, as this process knows them
	open      []*laneView         // the views that may have more jobs
	avoid     map[int64]struct{}  // jobs that were chosen before
	laneQueue *laneQueue          // lanes that have not been read yet; nil unless there are many

	otherNodes *sqlstore.OtherNodes // nil: they were not read

	limits  map[int32]*claimLimit // that the lanes count against
	limited bool                  // whether they were locked, as far as needed
	stale   bool                  // whether other claims used them after this one first read them
	missed  bool                  // whether lanes were left out that may have more
	deltas  []int64               // rows of quota_delta that were folded
}

// taken is a job whose row in ready is locked.
type taken struct {
	lane    int32
	set     int32 // of limits
	turn    int16
	startBy int64
	job     *fairlead.Job
}

func (t *taken) key() dispatch.Key {
	return dispatch.Key{Turn: t.turn, StartBy: t.startBy, ID: t.job.ID}
}

func (c *claimer) solo() string {
	if c.Solo {
		return "1"
	}
	return "0"
}

// lockFirst locks the first free jobs of a lane.
func (c *claimer) lockFirst(ctx context.Context, view *laneView, room int) error {
	c.names = []sqlstore.Lane{{ID: view.ID, LaneKey: view.names}}
	question := c.tx.StmtContext(ctx, c.claimLane) //nolint:sqlclosecheck // it ends with the transaction
	answer, err := question.QueryContext(ctx, view.ID, []byte(view.names.Queue), []byte(view.names.Tenant), []byte(view.names.Kind), view.ID, c.Solo, room)
	if err != nil {
		return err
	}
	return scanAll(answer, c.note)
}

// note reads a job whose row is now locked. It fails if its lane, or another lane of
// the same statement, has other names than this process knows.
func (c *claimer) note(row *sql.Rows) error {
	var (
		t                            taken
		notBefore, createdAt, now    int64
		flags                        int16
		key, trace                   sql.NullString
		policy, args, memo, progress []byte
		named                        bool
		job                          fairlead.Job
	)
	err := row.Scan(&t.lane, &t.turn, &t.startBy, &job.ID, &job.Attempt, &job.Failures, &job.Crashes,
		&notBefore, &createdAt, &key, &flags, &policy, &trace, &args, &memo, &progress, &now, &named)
	if err != nil {
		return err
	}
	if !named {
		return changedLanes(c.names)
	}
	lane := c.views[t.lane].names
	job.Queue, job.Tenant, job.Kind = lane.Queue, lane.Tenant, lane.Kind
	job.Priority, job.StartBy, job.NotBefore, job.CreatedAt = -int(t.turn), sqlstore.Time(t.startBy), sqlstore.Time(notBefore), sqlstore.Time(createdAt)
	job.Key, job.Trace = key.String, trace.String
	job.Args, job.Memo, job.Progress = args, memo, progress
	if err := sqlstore.SetPolicy(&job, flags, policy); err != nil {
		return err
	}
	c.bytes.Keep(&job, len(c.taken) == 0)
	t.job = &job
	c.now = max(c.now, now)
	c.taken = append(c.taken, &t)
	c.rooms.use(lane.Kind)
	c.spend(t.lane)
	return nil
}

// lease moves the taken jobs to running, under a new fence.
func (c *claimer) lease(ctx context.Context) ([]*fairlead.Job, error) {
	if len(c.taken) == 0 {
		return nil, nil
	}
	if err := c.mustBeLeased(ctx); err != nil {
		return nil, err
	}
	sets, err := c.setsByLane(ctx)
	if err != nil {
		return nil, err
	}
	fence, err := c.fence(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.taken, func(a, b *taken) int { return a.key().Compare(b.key()) })
	jobs := make([]*fairlead.Job, len(c.taken))
	for i, t := range c.taken {
		job := t.job
		job.State, job.Attempt, job.Solo = fairlead.Running, job.Attempt+1, c.Solo
		job.Fence, job.Node, job.StartedAt = fence, c.Node, sqlstore.Time(c.now)
		t.set = sets[t.lane]
		jobs[i] = job
	}
	ranges, others := spansOf(c.taken)
	moved, err := c.leaseSpans(ctx, ranges, fence, sets)
	if err != nil {
		return nil, err
	}
	left, err := c.leaseEach(ctx, others)
	return jobs, checkHits(len(jobs), moved+left, err)
}

// leaseSpans moves jobs with consecutive ids and returns how many.
func (c *claimer) leaseSpans(ctx context.Context, ranges []string, fence int64, sets map[int32]int32) (moved int64, err error) {
	for chunk := range slices.Chunk(ranges, chunkSpans) {
		slots := []string{
			"solo", c.solo(), "spans", strings.Join(chunk, " or "),
			"fence_no", decimal(fence), "node_id", decimal(c.Node), "clock", decimal(c.now), "set", setByLane(sets),
		}
		leased, err := c.exec(ctx, fill(c.sql.ToRunningRanges, slots...))
		if err != nil {
			return 0, err
		}
		if err := c.must(ctx, int(leased), fill(c.sql.LeaveReadyRanges, slots...)); err != nil {
			return 0, err
		}
		moved += leased
	}
	return moved, nil
}

// leaseEach moves the other jobs, by a list of ids, and returns how many.
func (c *claimer) leaseEach(ctx context.Context, others []*taken) (moved int64, err error) {
	if moved, err = c.leaveReady(ctx, others); err != nil {
		return 0, err
	}
	running := tuples{}
	for _, t := range others {
		job := t.job
		running.add().ints(job.ID, job.Fence, int64(c.Node), int64(t.lane), int64(job.Attempt), int64(job.Failures), int64(job.Crashes), sqlstore.Micros(job.StartedAt), int64(t.set)).end()
	}
	return moved, c.insert(ctx, c.sql.ToRunning, &running)
}

// leaveReady removes jobs from ready and returns how many. It has a statement for one
// job: a nearly idle node claims jobs one at a time as fast as it can, and a list would
// take longer.
func (c *claimer) leaveReady(ctx context.Context, jobs []*taken) (int64, error) {
	if len(jobs) == 1 {
		t := jobs[0]
		return c.exec(ctx, c.sql.LeaveReadyOne, t.lane, c.Solo, t.turn, t.startBy, t.job.ID)
	}
	keys := tuples{json: true}
	for _, t := range jobs {
		keys.add().ints(int64(t.lane), int64(t.turn), t.startBy, t.job.ID).end()
	}
	return c.execRows(ctx, fill(c.sql.LeaveReady, "solo", c.solo()), &keys)
}

// fence takes the next fence. If the fence is not larger than all that this process
// received before, the database has lost commits.
func (c *claimer) fence(ctx context.Context) (int64, error) {
	before := c.lastFence.Load()
	result, err := c.tx.ExecContext(ctx, c.sql.TakeFence, c.Node)
	if err != nil {
		return 0, err
	}
	fence, err := result.LastInsertId()
	if err == nil && fence <= before {
		err = c.commitsLost("fence %d comes after fence %d", fence, before)
	}
	raise(&c.lastFence, fence)
	return fence, err
}
