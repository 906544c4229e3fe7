package postgres

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

//go:embed sql/*.sql migrations/*.sql
var files embed.FS

// statements holds the statements of sql/*.sql, with the names of this store's tables.
type statements struct {
	sqlstore.FeatureStatements
	sqlstore.CommitStatements

	Pin        string `sql:"pin"`
	SameServer string `sql:"same_server"`
	BoundIdle  string `sql:"bound_idle"`
	BoundLocks string `sql:"bound_locks"`
	IsServer   string `sql:"is_server"`
	Notify     string `sql:"notify"`
	AddLanes   string `sql:"add_lanes"`
	NamedLanes string `sql:"named_lanes"`
	LanesAbove string `sql:"lanes_above"`
	TakeIDs    string `sql:"take_ids"`

	LaneWalk         string `sql:"lane_walk"`
	LanesSettled     string `sql:"lanes_settled"`
	KeepLaneWalk     string `sql:"keep_lane_walk"`
	StampLanes       string `sql:"stamp_lanes"`
	LanesOfWindow    string `sql:"lanes_of_window"`
	SeeLanes         string `sql:"see_lanes"`
	LanesOfSchedules string `sql:"lanes_of_schedules"`
	RetireLanes      string `sql:"retire_lanes"`
	RemoveLanes      string `sql:"remove_lanes"`
	LaneIDs          string `sql:"lane_ids"`
	SettledLane      string `sql:"settled_lane"`

	Savepoint         string `sql:"savepoint"`
	ReturnToSavepoint string `sql:"return_to_savepoint"`
	ReleaseSavepoint  string `sql:"release_savepoint"`

	SchemaExists      string `sql:"schema_exists"`
	CreateSchema      string `sql:"create_schema"`
	MigrationsExist   string `sql:"migrations_exist"`
	CreateMigrations  string `sql:"create_migrations"`
	MigrationsApplied string `sql:"migrations_applied"`
	RecordMigration   string `sql:"record_migration"`
	LockMigrations    string `sql:"lock_migrations"`
	MigrationsHolder  string `sql:"migrations_holder"`
	FindIndex         string `sql:"find_index"`
	DropIndex         string `sql:"drop_index"`
	BuildsIndex       string `sql:"builds_index"`
	StayIdle          string `sql:"stay_idle"`
	TakeYourTime      string `sql:"take_your_time"`

	Removable string `sql:"removable"`

	KnownServer  string `sql:"known_server"`
	ServerNumber string `sql:"server_number"`
	LockServer   string `sql:"lock_server"`
	History      string `sql:"history"`
	LastIDs      string `sql:"last_ids"`
	AnchorFences string `sql:"anchor_fences"`
	JumpIDs      string `sql:"jump_ids"`
	CountServer  string `sql:"count_server"`

	Changed       string `sql:"changed"`
	KnownOne      string `sql:"known_one"`
	StoredAlike   string `sql:"stored_alike"`
	DueAlike      string `sql:"due_alike"`
	Verdict       string `sql:"verdict"`
	Enqueue       string `sql:"enqueue"`
	EnqueueWithin string `sql:"enqueue_within"`
	EnqueueMixed  string `sql:"enqueue_mixed"`
	EnqueueKeyed  string `sql:"enqueue_keyed"`
	KeyHolders    string `sql:"key_holders"`

	ShareLimits  string `sql:"share_limits"`
	ClaimLane    string `sql:"claim_lane"`
	ClaimMerged  string `sql:"claim_merged"`
	ChooseFirst  string `sql:"choose_first"`
	ChooseByRoom string `sql:"choose_by_room"`
	ClaimFair    string `sql:"claim_fair"`
	Weigh        string `sql:"weigh"`
	WeighSingle  string `sql:"weigh_single"`
	FairAnswer   string `sql:"fair_answer"`
	Leasing      string `sql:"leasing"`
	ClaimCheck   string `sql:"claim_check"`

	Linger       string `sql:"linger"`
	LaneKeys     string `sql:"lane_keys"`
	BusyLanes    string `sql:"busy_lanes"`
	SuspectLanes string `sql:"suspect_lanes"`
	LockLimits   string `sql:"lock_limits"`
	FoldLimits   string `sql:"fold_limits"`
	ClaimChosen  string `sql:"claim_chosen"`

	Succeed      string `sql:"succeed"`
	Finish       string `sql:"finish"`
	Release      string `sql:"release"`
	Await        string `sql:"await"`
	EarlyAnswers string `sql:"early_answers"`
	Retrace      string `sql:"retrace"`
	PassOver     string `sql:"pass_over"`
	Vacate       string `sql:"vacate"`
	Save         string `sql:"save"`

	Place        string `sql:"place"`
	LeavePending string `sql:"leave_pending"`
	Cancel       string `sql:"cancel"`
	Wish         string `sql:"wish"`
	LockDone     string `sql:"lock_done"`
	RetakeKey    string `sql:"retake_key"`
	Reopen       string `sql:"reopen"`
	Reschedule   string `sql:"reschedule"`
	RunNow       string `sql:"run_now"`
	SetTurn      string `sql:"set_turn"`
	NamesOf      string `sql:"names_of"`
	SetLane      string `sql:"set_lane"`
	TakeOut      string `sql:"take_out"`
	Forget       string `sql:"forget"`

	ExcludeClaims string `sql:"exclude_claims"`
	ChangeLimits  string `sql:"change_limits"`
	LimitsVersion string `sql:"limits_version"`
	LimitRows     string `sql:"limit_rows"`
	LimitActive   string `sql:"limit_active"`
	PutLimit      string `sql:"put_limit"`
	Limits        string `sql:"limits"`
	Ahead         string `sql:"ahead"`
	Bounds        string `sql:"bounds"`

	Family   string `sql:"family"`
	Minimums string `sql:"minimums"`

	Rehold        string `sql:"rehold"`
	HoldRunning   string `sql:"hold_running"`
	HoldWaiting   string `sql:"hold_waiting"`
	UsedLanes     string `sql:"used_lanes"`
	ReholdRunning string `sql:"rehold_running"`
	ReholdWaiting string `sql:"rehold_waiting"`
	ReholdLeft    string `sql:"rehold_left"`
	Recount       string `sql:"recount"`

	LockWaiting  string `sql:"lock_waiting"`
	LockRunning  string `sql:"lock_running"`
	KeepAnswer   string `sql:"keep_answer"`
	PastAnswer   string `sql:"past_answer"`
	Extend       string `sql:"extend"`
	Tell         string `sql:"tell"`
	Recorded     string `sql:"recorded"`
	KeepTold     string `sql:"keep_told"`
	AnswerFinish string `sql:"answer_finish"`
	AnswerAgain  string `sql:"answer_again"`

	GatesWithNews string `sql:"gates_with_news"`
	LockGates     string `sql:"lock_gates"`
	Admit         string `sql:"admit"`
	LeaveGates    string `sql:"leave_gates"`
	Depart        string `sql:"depart"`
	Due           string `sql:"due"`
	StirGates     string `sql:"stir_gates"`
	GateHolders   string `sql:"gate_holders"`
	GateAhead     string `sql:"gate_ahead"`

	AddSchedule       string `sql:"add_schedule"`
	ReplaceSchedule   string `sql:"replace_schedule"`
	DeleteSchedule    string `sql:"delete_schedule"`
	Schedules         string `sql:"schedules"`
	SchedulesByID     string `sql:"schedules_by_id"`
	SchedulesByName   string `sql:"schedules_by_name"`
	SchedulesByTenant string `sql:"schedules_by_tenant"`
	SchedulesOfAll    string `sql:"schedules_of_all"`
	SchedulesSoonest  string `sql:"schedules_soonest"`
	PruneSchedules    string `sql:"prune_schedules"`
	ShareCalendar     string `sql:"share_calendar"`

	LookAtOpen      string `sql:"look_at_open"`
	Whereabouts     string `sql:"whereabouts"`
	Fires           string `sql:"fires"`
	FiresOfJobs     string `sql:"fires_of_jobs"`
	FiresOfSchedule string `sql:"fires_of_schedule"`
	FiresOfAll      string `sql:"fires_of_all"`
	CancelRuns      string `sql:"cancel_runs"`
	LiveRuns        string `sql:"live_runs"`
	AdmitFires      string `sql:"admit_fires"`
	RecordRuns      string `sql:"record_runs"`
	LockFire        string `sql:"lock_fire"`
	DeclaredOfRun   string `sql:"declared_of_run"`
	ReopenFire      string `sql:"reopen_fire"`

	Dwell           string `sql:"dwell"`
	DwellBriefly    string `sql:"dwell_briefly"`
	Batches         string `sql:"batches"`
	BatchesByID     string `sql:"batches_by_id"`
	BatchesOpen     string `sql:"batches_open"`
	BatchesByName   string `sql:"batches_by_name"`
	BatchesByTenant string `sql:"batches_by_tenant"`
	BatchesOfAll    string `sql:"batches_of_all"`
	Chunks          string `sql:"chunks"`
	ChunksByNumber  string `sql:"chunks_by_number"`
	ChunksHeld      string `sql:"chunks_held"`
	ChunksOut       string `sql:"chunks_out"`
	ChunksOfAll     string `sql:"chunks_of_all"`
	EndsBetween     string `sql:"ends_between"`
	EndsOf          string `sql:"ends_of"`
	MemosBetween    string `sql:"memos_between"`
	MemosOf         string `sql:"memos_of"`
	Recall          string `sql:"recall"`
	PruneBatch      string `sql:"prune_batch"`
	PruneUnopened   string `sql:"prune_unopened"`

	Sweeps         string `sql:"sweeps"`
	SweepsByID     string `sql:"sweeps_by_id"`
	SweepsByName   string `sql:"sweeps_by_name"`
	SweepsByState  string `sql:"sweeps_by_state"`
	SweepsByTenant string `sql:"sweeps_by_tenant"`
	SweepsOfAll    string `sql:"sweeps_of_all"`
	Checkpoint     string `sql:"checkpoint"`

	Join     string `sql:"join"`
	Beat     string `sql:"beat"`
	Drain    string `sql:"drain"`
	Wishes   string `sql:"wishes"`
	Leave    string `sql:"leave"`
	Held     string `sql:"held"`
	NodeLeft string `sql:"node_left"`

	Promote    string `sql:"promote"`
	NextDue    string `sql:"next_due"`
	MarkDead   string `sql:"mark_dead"`
	Reap       string `sql:"reap"`
	Overdue    string `sql:"overdue"`
	Expire     string `sql:"expire"`
	PruneNodes string `sql:"prune_nodes"`

	PruneReaped  string `sql:"prune_reaped"`
	MarkLived    string `sql:"mark_lived"`
	Uncrash      string `sql:"uncrash"`
	ForgetReaped string `sql:"forget_reaped"`

	PruneSuccesses string `sql:"prune_successes"`
	PruneOthers    string `sql:"prune_others"`
	PruneOnce      string `sql:"prune_once"`
	PruneAudit     string `sql:"prune_audit"`
	Unneeded       string `sql:"unneeded"`
	CountingBatch  string `sql:"counting_batch"`
	RunningSweep   string `sql:"running_sweep"`
	NeededBy       string `sql:"needed_by"`
	PruneLimits    string `sql:"prune_limits"`

	Attempts string `sql:"attempts"`
	Nodes    string `sql:"nodes"`
}

// Parts of statements that are statements themselves. They are filled in after all are
// loaded.
const (
	choice       = "{{choice}}"
	order        = "{{order}}"
	vacate       = "{{vacate}}"
	depart       = "{{depart}}"
	due          = "{{due}}"
	leavePending = "{{leave_pending}}"
	whereabouts  = "{{whereabouts}}"
	indexName    = "{{index}}"

	unneeded      = "{{unneeded}}"
	countingBatch = "{{counting_batch}}"
	runningSweep  = "{{running_sweep}}"
	knownOne      = "{{known_one}}"
	storedAlike   = "{{stored_alike}}"
	dueAlike      = "{{due_alike}}"
	changed       = "{{changed}}"
	verdictChunk  = "{{verdict}}"
	startedMark   = "{{started}}"
)

// fillIn completes the statements that take jobs out of running or waiting, store jobs,
// end jobs that they find themselves, make scheduled jobs due, or read runs or shards.
// A statement that can choose in several ways becomes one statement for each.
func (s *statements) fillIn() {
	for _, text := range []*string{
		&s.Succeed, &s.Finish, &s.Release, &s.Await, &s.Cancel, &s.AnswerFinish, &s.AnswerAgain, &s.Reap, &s.Expire, &s.CancelRuns,
	} {
		*text = strings.ReplaceAll(*text, vacate, s.Vacate)
	}
	for _, text := range []*string{&s.Enqueue, &s.EnqueueWithin} {
		*text = strings.NewReplacer(knownOne, s.KnownOne, storedAlike, s.StoredAlike, dueAlike, s.DueAlike).Replace(*text)
	}
	for _, text := range []*string{&s.EnqueueMixed, &s.EnqueueKeyed, &s.RecordRuns} {
		*text = strings.NewReplacer(changed, s.Changed, verdictChunk, s.Verdict).Replace(*text)
	}
	for _, text := range []*string{&s.Reap, &s.Expire} {
		*text = strings.ReplaceAll(*text, depart, s.Depart)
	}
	for _, text := range []*string{&s.Cancel, &s.Reschedule, &s.TakeOut} {
		*text = strings.ReplaceAll(*text, leavePending, s.LeavePending)
	}
	for _, text := range []*string{&s.Reschedule, &s.RunNow} {
		*text = strings.ReplaceAll(*text, due, s.Due)
	}
	for _, text := range []*string{&s.OpenFires, &s.Fires, &s.ShardsAndStates} {
		*text = strings.ReplaceAll(*text, whereabouts, s.Whereabouts)
	}
	for _, text := range []*string{&s.PruneSuccesses, &s.PruneOthers, &s.Removable, &s.NeededBy} {
		*text = strings.ReplaceAll(*text, unneeded, s.Unneeded)
		*text = strings.ReplaceAll(*text, countingBatch, s.CountingBatch)
		*text = strings.ReplaceAll(*text, runningSweep, s.RunningSweep)
	}
	for _, way := range []*string{&s.SchedulesByID, &s.SchedulesByName, &s.SchedulesByTenant, &s.SchedulesOfAll} {
		*way = strings.NewReplacer(choice, *way, order, "s.name").Replace(s.Schedules)
	}
	s.SchedulesSoonest = strings.NewReplacer(choice, s.SchedulesSoonest, order, "k.fire_at, s.id").Replace(s.Schedules)
	for _, way := range []*string{&s.FiresOfJobs, &s.FiresOfSchedule, &s.FiresOfAll} {
		*way = strings.ReplaceAll(s.Fires, choice, *way)
	}
	for _, way := range []*string{&s.BatchesByID, &s.BatchesOpen, &s.BatchesByName, &s.BatchesByTenant, &s.BatchesOfAll} {
		*way = strings.ReplaceAll(s.Batches, choice, *way)
	}
	for _, way := range []*string{&s.ChunksByNumber, &s.ChunksHeld, &s.ChunksOut, &s.ChunksOfAll} {
		*way = strings.ReplaceAll(s.Chunks, choice, *way)
	}
	for _, way := range []*string{&s.SweepsByID, &s.SweepsByName, &s.SweepsByState, &s.SweepsByTenant, &s.SweepsOfAll} {
		*way = strings.ReplaceAll(s.Sweeps, choice, *way)
	}
}

// Since when the server has its memory: since its start, or since one of its processes
// was killed. In the second case the server drops its memory, and with it commits that
// are not on disk, but keeps its start time; its statistics begin anew. An
// administrator who resets the statistics only causes the server to be counted again.
// Reading the statistics is cheap since version 15; before, it may wait for a file.
const (
	sinceStart = "pg_postmaster_start_time()"
	sinceCrash = "greatest(pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())"
	cheapStats = 150000 // server_version_num
)

const databaseClock = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"

// transactionClock is when the transaction began: before the snapshots of all of its
// statements.
const transactionClock = "(extract(epoch from transaction_timestamp()) * 1000000)::bigint"

// plainName matches schemas and prefixes that need no escaping anywhere.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

func checkNames(schema, prefix string) error {
	for what, name := range map[string]string{"schema": schema, "prefix": prefix} {
		if !plainName.MatchString(name) {
			return fmt.Errorf("%s %q: use 1 to 40 letters, digits and underscores, not starting with a digit", what, name)
		}
	}
	return nil
}

// expander names the tables. Parts of statements are filled in later.
func expander(schema string, version int, options Options) sqlstore.Expander {
	since := sinceStart
	if version >= cheapStats {
		since = sinceCrash
	}
	now, begun := options.Now, options.Now
	if now == "" {
		now, begun = databaseClock, transactionClock
	}
	return func(name string) string {
		switch name {
		case "now":
			return now
		case "begun":
			return begun
		case "minimum":
			return name
		case "since":
			return since
		case "schema":
			return `"` + schema + `"`
		case "timeout":
			return strconv.FormatInt(options.QueryTimeout.Milliseconds(), 10)
		case "solo_after":
			return strconv.Itoa(driver.SoloAfter)
		case "idle_limit":
			return strconv.FormatInt(options.IdleLimit.Milliseconds(), 10)
		case "lock_limit":
			return strconv.FormatInt(lockLimit.Milliseconds(), 10)
		case "real_now":
			return databaseClock
		case "choice":
			return choice
		case "order":
			return order
		case "changed":
			return changed
		case "verdict":
			return verdictChunk
		case "started":
			return startedMark
		case "vacate":
			return vacate
		case "depart":
			return depart
		case "due":
			return due
		case "leave_pending":
			return leavePending
		case "whereabouts":
			return whereabouts
		case "leasing", "answer", "weigh_first", "weigh_seen", "unneeded", "counting_batch", "running_sweep", "known_one", "stored_alike", "due_alike":
			return "{{" + name + "}}"
		case "index":
			return indexName
		}
		if strings.HasSuffix(name, "_index") { // an index is in the schema of its table
			return `"` + options.Prefix + name + `"`
		}
		return `"` + schema + `"."` + options.Prefix + name + `"`
	}
}
