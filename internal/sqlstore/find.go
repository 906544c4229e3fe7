package sqlstore

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// Query builds the statements of Get, Find and Tally. A statement is a union over the place
// tables of the filter's states, so its result comes from one snapshot. Lanes and outcomes are
// numbers and are written into the statement; IDs and keys are passed as arguments.
type Query struct {
	Expand Expander           // expands table names
	Arg    func(n int) string // placeholder of the n-th argument, from 1
	NoJSON string             // null with the type of done.output
	Lanes  *Lanes

	// Probe compares a column with a value from a row read earlier, in a form that forces
	// the database to use an index lookup. If nil, Query uses "=".
	Probe func(column, value string) string
	// ByID follows a table that is read in ID order. Join joins a table with one lookup for
	// each row of the previous table.
	ByID, Join string
	// ByOutcome follows done when it is read by outcome.
	ByOutcome string
	// FailedLanes reports whether done has an index by lane of the failed jobs. ByFailedLane
	// follows done if it is to be read by that index.
	FailedLanes  bool
	ByFailedLane string
	// Unlucky means that done has an index by ID of the jobs that did not succeed, and no
	// index by end time of those that did.
	Unlucky bool
	// LateOutput means that the database would hold the outputs of all candidate jobs of a
	// page in memory. Outputs are then read job by job instead.
	LateOutput bool
	// Open is the condition for batches that need processing.
	Open string
	// AuditIndexes returns the index hint for the audit log table and a filter. If nil, the
	// database chooses the index.
	AuditIndexes func(filter access.Filter) string
}

// place is a table that holds the jobs of some states. Its columns match JobRow; a column
// missing from the table is a constant.
type place struct {
	table   string
	states  []fairlead.State
	columns string
}

var places = []place{
	{"later", []fairlead.State{fairlead.Scheduled}, "p.id, 'scheduled' as state, 0 as fence, 0 as node, p.attempt, p.failures, p.crashes, 0 as started_at, 0 as finished_at, p.not_before as due, 0 as wished, '' as reason, '' as error"},
	{"ready", []fairlead.State{fairlead.Ready}, "p.id, 'ready' as state, 0 as fence, 0 as node, p.attempt, p.failures, p.crashes, 0 as started_at, 0 as finished_at, 0 as due, 0 as wished, '' as reason, '' as error"},
	{"parked", []fairlead.State{fairlead.Parked}, "p.id, 'parked' as state, 0 as fence, 0 as node, p.attempt, p.failures, p.crashes, 0 as started_at, 0 as finished_at, 0 as due, 0 as wished, '' as reason, '' as error"},
	{"running", []fairlead.State{fairlead.Running}, "p.id, 'running' as state, p.fence, p.node, p.attempt, p.failures, p.crashes, p.started_at, 0 as finished_at, 0 as due, case when p.wish is null then 0 else 1 end as wished, '' as reason, '' as error"},
	{"waiting", []fairlead.State{fairlead.Waiting}, "p.id, 'waiting' as state, p.fence, p.node, p.attempt, p.failures, p.crashes, p.started_at, 0 as finished_at, p.deadline as due, 0 as wished, '' as reason, '' as error"},
	{"done", []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped}, "p.id, case p.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end as state, p.fence, p.node, p.attempt, p.failures, p.crashes, p.started_at, p.finished_at, 0 as due, 0 as wished, coalesce(p.reason, '') as reason, coalesce(p.error, '') as error"},
}

var placeOfScheduled, placeOfEnded = places[0], places[len(places)-1]

const jobColumns = "j.lane, j.turn, j.start_by, j.not_before, j.created_at, coalesce(j.job_key, '') as job_key, j.flags, j.policy, coalesce(j.trace, '') as trace, j.args"

// Find returns a statement that selects the newest jobs within a window that match a filter.
// ScanJob reads its rows. An empty statement means that no job can match.
func (q *Query) Find(filter fairlead.Filter, within Window) (string, []any) {
	limit := pageOf(filter)
	b := queryBuilder{Query: q, filter: filter, within: within}
	branches := b.branches(func(p place, from string) string {
		return fmt.Sprintf("select %s, %s as output%s order by p.id desc limit %d", p.columns, q.output(p), from, limit)
	})
	if branches == "" {
		return "", nil
	}
	output := "p.output"
	if q.LateOutput {
		output = "case when p.finished_at > 0 then (select d.output from {{done}} d where d.id = p.id) end"
	}
	// Select and sort the jobs of the page before reading their documents: a page may end
	// long before its last job.
	page := "(select * from (" + branches + ") b order by id desc limit " + strconv.Itoa(limit) + ") p"
	return q.expand("select p.id, p.state, p.fence, p.node, p.attempt, p.failures, p.crashes, p.started_at, p.finished_at, p.due, p.wished, p.reason, p.error, " + output + " as output, " +
		jobColumns + ", m.memo, m.progress, case when m.told_fence = p.fence then m.told end as told from " + page + " " + b.join() + " {{job}} j on " + q.probe("j.id", "p.id") +
		" left join {{memo}} m on " + q.probe("m.id", "p.id") + " order by p.id desc"), b.args
}

// output returns the output column of a place's branch.
func (q *Query) output(p place) string {
	if p.table == "done" && !q.LateOutput {
		return "p.output"
	}
	return "{{nojson}}"
}

func pageOf(filter fairlead.Filter) int {
	if filter.Limit <= 0 {
		return fairlead.DefaultPage
	}
	return filter.Limit
}

// Tally returns a statement that counts the jobs within a window that match a filter. Its rows
// consist of a state and a count. An empty statement means that no job can match.
func (q *Query) Tally(filter fairlead.Filter, within Window) (string, []any) {
	b := queryBuilder{Query: q, filter: filter, within: within, counts: true}
	branches := b.branches(func(p place, from string) string {
		if p.table != "done" {
			return fmt.Sprintf("select '%s' as state, count(*) as n%s", p.states[0], from)
		}
		return "select case p.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end as state, count(*) as n" + from + " group by p.outcome"
	})
	if branches == "" {
		return "", nil
	}
	return q.expand("select state, n from (" + branches + ") t where n > 0"), b.args
}

func (q *Query) probe(column, value string) string {
	if q.Probe == nil {
		return column + " = " + value
	}
	return q.Probe(column, value)
}

func (q *Query) expand(sql string) string {
	return Expander(func(name string) string {
		if name == "nojson" {
			return q.NoJSON
		}
		return q.Expand(name)
	}).expand(sql)
}

type queryBuilder struct {
	*Query
	filter fairlead.Filter
	within Window
	counts bool // count all matches instead of listing the newest
	args   []any
}

func (b *queryBuilder) arg(v any) string {
	b.args = append(b.args, v)
	return b.Arg(len(b.args))
}

// branches returns the union of one select per place that can hold matching jobs.
func (b *queryBuilder) branches(selectFrom func(p place, from string) string) string {
	lanes, all := b.Lanes.Matching(b.filter)
	if !all && len(lanes) == 0 {
		return ""
	}
	var parts []string
	for i, p := range places {
		if states := p.asked(b.filter); len(states) > 0 {
			parts = append(parts, fmt.Sprintf("select * from (%s) b%d", selectFrom(p, b.from(p, states, lanes)), i))
		}
	}
	return strings.Join(parts, " union all ")
}

// asked returns the states of a place that match a filter.
func (p place) asked(filter fairlead.Filter) []fairlead.State {
	if p.table != "done" && !filter.FinishedFrom.IsZero() {
		return nil
	}
	if len(filter.States) == 0 {
		return p.states
	}
	return slices.DeleteFunc(slices.Clone(p.states), func(s fairlead.State) bool { return !slices.Contains(filter.States, s) })
}

// from returns the from and where clauses for one place.
func (b *queryBuilder) from(p place, states []fairlead.State, lanes []int32) string {
	from, id := b.table(p)
	where := b.ids(id)
	switch {
	case b.within.ManyLanes:
		where = append(where, "p.lane + 0 in ("+numbers(lanes)+")")
	case lanes != nil:
		where = append(where, "p.lane in ("+numbers(lanes)+")")
	}
	if p.table == "done" {
		where = append(where, b.outcomes(states)...)
	}
	if b.filter.Key != "" {
		where = append(where, "p.id in (select id from {{job}} where job_key = "+b.arg(b.filter.Key)+")")
	}
	if !b.filter.From.IsZero() || !b.filter.To.IsZero() {
		where = append(where, b.created())
	}
	if ended := b.filter.FinishedFrom; !ended.IsZero() {
		where = append(where, "p.finished_at >= "+b.arg(Micros(ended)))
	}
	if b.filter.OnFail != "" {
		where = append(where, b.onFail())
	}
	if len(where) == 0 {
		return from
	}
	from += " where " + strings.Join(where, " and ")
	switch {
	case p.table == "later" && b.within.LaterByLane:
		// These lanes have few of very many scheduled jobs: do not search for them among
		// all jobs in ID order.
		from = " from (select p.*" + from + " limit " + strconv.Itoa(math.MaxInt64) + ") p"
	case !b.filter.FinishedFrom.IsZero() && !b.within.ByID:
		// Few of very many jobs ended recently: read them by end time, and do not search
		// for them among all jobs in ID order.
		from = " from (select p.*" + from + " order by p.finished_at limit " + strconv.Itoa(math.MaxInt64) + ") p"
	}
	return from
}

// table returns the from clause for one place and the ID expression that selects its rows.
func (b *queryBuilder) table(p place) (from, id string) {
	named, across := len(b.filter.IDs) > 0, b.within.Across[p.table]
	jobs := " from {{job}} k"
	if across {
		jobs += b.ByID
	}
	switch {
	case p.table == "ready" && (named || across):
		// ready is ordered by its complete key, which a job's own row contains. Join both
		// values of solo, because MySQL would scan the lane for a list of them.
		return jobs + " cross join (select 0 as solo union all select 1) s " + b.join() +
			" {{ready}} p on " + b.probe("p.lane", "k.lane") + " and p.solo = s.solo and p.turn = k.turn and p.start_by = k.start_by and p.id = k.id", "k.id"
	case p.table == "parked" && (named || across):
		return jobs + " " + b.join() + " {{parked}} p on " + b.probe("p.gate", "k.gate") + " and p.turn = k.turn and p.start_by = k.start_by and p.id = k.id", "k.id"
	case b.within.ByOutcome && p.table == "done":
		return " from {{done}} p" + b.ByOutcome, "p.id"
	case p.table == "later" && b.within.LaterByLane:
	case b.within.ByID && p.table != "ready" && p.table != "parked":
		return " from {{" + p.table + "}} p" + b.ByID, "p.id"
	}
	return " from {{" + p.table + "}} p", "p.id"
}

// join returns the keyword for joining a table by its full key. With a free choice of plan,
// the database might read all ready jobs of the lane.
func (b *queryBuilder) join() string { return cmp.Or(b.Join, "join") }

// ids returns the conditions on IDs.
func (b *queryBuilder) ids(id string) (where []string) {
	if len(b.filter.IDs) > 0 {
		marks := make([]string, len(b.filter.IDs))
		for i, v := range b.filter.IDs {
			marks[i] = b.arg(v)
		}
		where = append(where, id+" in ("+strings.Join(marks, ", ")+")")
	}
	if b.within.From > 0 {
		where = append(where, id+" >= "+b.arg(b.within.From))
	}
	if below := b.within.below(b.filter); below > 0 {
		where = append(where, id+" < "+b.arg(below))
	}
	return where
}

// outcomes returns the conditions on outcomes and end times. If rows are read in ID order,
// the conditions prevent the use of an index by outcome and end time.
func (b *queryBuilder) outcomes(states []fairlead.State) (where []string) {
	some := len(states) < len(outcomeStates)
	if !some && (b.filter.FinishedFrom.IsZero() || b.within.ByID) {
		return nil
	}
	list := make([]int, len(states))
	for i, s := range states {
		list[i] = OutcomeOf(s)
	}
	slices.Sort(list)
	if !b.within.ByID || b.within.ByOutcome {
		return []string{"p.outcome in (" + numbers(list) + ")"}
	}
	if b.Unlucky && list[0] != OutcomeSucceeded {
		where = append(where, "p.outcome <> 1")
	}
	return append(where, "p.outcome + 0 in ("+numbers(list)+")")
}

// created returns the condition on creation time, which only the job table has.
func (b *queryBuilder) created() string {
	var exact []string
	if from := b.filter.From; !from.IsZero() {
		exact = append(exact, "c.created_at >= "+b.arg(Micros(from)))
	}
	if to := b.filter.To; !to.IsZero() {
		exact = append(exact, "c.created_at < "+b.arg(Micros(to)))
	}
	return "(select case when " + strings.Join(exact, " and ") + " then 1 else 0 end from {{job}} c where c.id = p.id) = 1"
}

// onFail returns the condition on the OnFail setting, which only the job table has.
func (b *queryBuilder) onFail() string {
	wanted := Flags(&fairlead.Job{OnFail: b.filter.OnFail})
	return fmt.Sprintf("(select c.flags & %d from {{job}} c where c.id = p.id) = %d", FlagRemoveFailed, wanted)
}

func numbers[T ~int | ~int32](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.FormatInt(int64(v), 10)
	}
	return strings.Join(texts, ", ")
}

// Scanner is a result row of any database driver.
type Scanner interface {
	Scan(dest ...any) error
}

// ScanJob reads a row of a Find statement. It returns the job and the ID of its lane. If the
// lane is not cached, the job's Queue, Tenant and Kind are empty, and the store must look them
// up.
func (q *Query) ScanJob(row Scanner) (*fairlead.Job, int32, error) {
	var (
		job                                              fairlead.Job
		state, reason                                    string
		started, finished, due, startBy, notBefore, made int64
		wished, lane                                     int32
		turn, flags                                      int16
		policy, args, output, memo, progress, told       []byte
	)
	if err := row.Scan(&job.ID, &state, &job.Fence, &job.Node, &job.Attempt, &job.Failures, &job.Crashes, &started, &finished, &due, &wished, &reason, &job.Error, &output,
		&lane, &turn, &startBy, &notBefore, &made, &job.Key, &flags, &policy, &job.Trace, &args, &memo, &progress, &told); err != nil {
		return nil, 0, err
	}
	if key, ok := q.Lanes.Key(lane); ok {
		job.Queue, job.Tenant, job.Kind = key.Queue, key.Tenant, key.Kind
	}
	job.State, job.Reason, job.CancelWish = fairlead.State(state), fairlead.Reason(reason), wished != 0
	job.Priority, job.StartBy, job.NotBefore, job.CreatedAt = -int(turn), Time(startBy), Time(notBefore), Time(made)
	job.StartedAt, job.FinishedAt = Time(started), Time(finished)
	switch job.State {
	case fairlead.Scheduled:
		job.NotBefore = Time(due)
	case fairlead.Waiting:
		job.Deadline = Time(due)
	}
	job.Args, job.Output, job.Memo, job.Progress, job.Told = args, output, memo, progress, told
	return &job, lane, SetPolicy(&job, flags, policy)
}
