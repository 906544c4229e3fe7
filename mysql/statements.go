package mysql

import "github.com/fairlead-io/fairlead/internal/sqlstore"

// statements holds all statements of the store, by their names in sql/*.sql. They still
// contain the slots that each call fills.
type statements struct {
	sqlstore.FeatureStatements
	sqlstore.CommitStatements

	ClaimCheck       string `sql:"claim_check"`
	Ahead            string `sql:"ahead"`
	Bounds           string `sql:"bounds"`
	BusyLanes        string `sql:"busy_lanes"`
	LaneHeads        string `sql:"lane_heads"`
	LaneFirsts       string `sql:"lane_firsts"`
	LaneKeys         string `sql:"lane_keys"`
	ClaimLane        string `sql:"claim_lane"`
	ClaimChosen      string `sql:"claim_chosen"`
	TakeFence        string `sql:"take_fence"`
	LeaveReady       string `sql:"leave_ready"`
	LeaveReadyRanges string `sql:"leave_ready_ranges"`
	ToRunningRanges  string `sql:"to_running_ranges"`
	ToRunning        string `sql:"to_running"`

	InsertJobs      string `sql:"insert_jobs"`
	InsertPlainJobs string `sql:"insert_plain_jobs"`
	PlaceDue        string `sql:"place_due"`
	TakeKeys        string `sql:"take_keys"`
	KeyHolders      string `sql:"key_holders"`
	PassKey         string `sql:"pass_key"`

	LockDue      string `sql:"lock_due"`
	NextDue      string `sql:"next_due"`
	LeaveLater   string `sql:"leave_later"`
	ExpiredNodes string `sql:"expired_nodes"`
	MarkDead     string `sql:"mark_dead"`
	Orphans      string `sql:"orphans"`
	Overdue      string `sql:"overdue"`
	LockOverdue  string `sql:"lock_overdue"`
	LockOutdated string `sql:"lock_outdated"`
	Removable    string `sql:"removable"`
	RunningSweep string `sql:"running_sweep"`
	SweepOf      string `sql:"sweep_of"`
	OutChunks    string `sql:"out_chunks"`
	LockJobs     string `sql:"lock_jobs"`
	DropAttempts string `sql:"drop_attempts"`
	DropMemos    string `sql:"drop_memos"`
	DropJobs     string `sql:"drop_jobs"`
	OldNodes     string `sql:"old_nodes"`
	BusyNodes    string `sql:"busy_nodes"`
	PruneNodes   string `sql:"prune_nodes"`
	PruneFences  string `sql:"prune_fences"`

	MarkLived      string `sql:"mark_lived"`
	ShareLived     string `sql:"share_lived"`
	AddReaped      string `sql:"add_reaped"`
	LockReaped     string `sql:"lock_reaped"`
	ForgetReaped   string `sql:"forget_reaped"`
	PruneReaped    string `sql:"prune_reaped"`
	Relabel        string `sql:"relabel"`
	UncrashLater   string `sql:"uncrash_later"`
	UncrashParked  string `sql:"uncrash_parked"`
	UncrashRunning string `sql:"uncrash_running"`
	UncrashWaiting string `sql:"uncrash_waiting"`

	LockOldOnce  string `sql:"lock_old_once"`
	PruneOnce    string `sql:"prune_once"`
	LockOldAudit string `sql:"lock_old_audit"`
	PruneAudit   string `sql:"prune_audit"`

	Listeners       string `sql:"listeners"`
	Register        string `sql:"register"`
	ForgetListeners string `sql:"forget_listeners"`

	Member      string `sql:"member"`
	WriterTable string `sql:"writer_table"`
	WriterRow   string `sql:"writer_row"`
	TakeMember  string `sql:"take_member"`
	MemberTaken string `sql:"member_taken"`

	LockMigrations    string `sql:"lock_migrations"`
	MigrationsHolder  string `sql:"migrations_holder"`
	UnlockMigrations  string `sql:"unlock_migrations"`
	ScriptSession     string `sql:"script_session"`
	CreateMigrations  string `sql:"create_migrations"`
	MigrationsExist   string `sql:"migrations_exist"`
	MigrationsApplied string `sql:"migrations_applied"`
	RecordMigration   string `sql:"record_migration"`

	Join       string `sql:"join"`
	Beat       string `sql:"beat"`
	BeatAnswer string `sql:"beat_answer"`
	NodeLeft   string `sql:"node_left"`
	Drain      string `sql:"drain"`
	Wishes     string `sql:"wishes"`
	WishesOf   string `sql:"wishes_of"`
	Leave      string `sql:"leave"`
	Held       string `sql:"held"`
	HeldAs     string `sql:"held_as"`

	DropStarts string `sql:"drop_starts"`
	OldStarts  string `sql:"old_starts"`

	Nodes string `sql:"nodes"`

	LockJob       string `sql:"lock_job"`
	LockAllJobs   string `sql:"lock_all_jobs"`
	PlaceOf       string `sql:"place_of"`
	PlacesOfJobs  string `sql:"places_of_jobs"`
	LockLater     string `sql:"lock_later"`
	LockAllLater  string `sql:"lock_all_later"`
	LockReady     string `sql:"lock_ready"`
	LockWaiting   string `sql:"lock_waiting"`
	LockDone      string `sql:"lock_done"`
	LeaveReadyOne string `sql:"leave_ready_one"`
	LeaveWaiting  string `sql:"leave_waiting"`
	LeaveDone     string `sql:"leave_done"`
	PolicyOf      string `sql:"policy_of"`
	SetOrder      string `sql:"set_order"`
	SetLane       string `sql:"set_lane"`
	SetLaneLater  string `sql:"set_lane_later"`
	SetDue        string `sql:"set_due"`
	Wish          string `sql:"wish"`
	CountWish     string `sql:"count_wish"`
	Answer        string `sql:"answer"`
	Extend        string `sql:"extend"`
	Tell          string `sql:"tell"`
	Recorded      string `sql:"recorded"`

	ToParked        string `sql:"to_parked"`
	LockParked      string `sql:"lock_parked"`
	LeaveParked     string `sql:"leave_parked"`
	PlacesOf        string `sql:"places_of"`
	LeaveGates      string `sql:"leave_gates"`
	PostNews        string `sql:"post_news"`
	ShareLimits     string `sql:"share_limits"`
	LockGates       string `sql:"lock_gates"`
	KnownGates      string `sql:"known_gates"`
	LockIdleGates   string `sql:"lock_idle_gates"`
	NewsOf          string `sql:"news_of"`
	GateState       string `sql:"gate_state"`
	LockFirstParked string `sql:"lock_first_parked"`
	ToAdmitted      string `sql:"to_admitted"`
	DropNews        string `sql:"drop_news"`
	DropGates       string `sql:"drop_gates"`
	GatesWithNews   string `sql:"gates_with_news"`
	ParkedGates     string `sql:"parked_gates"`
	GateHolders     string `sql:"gate_holders"`
	GateAhead       string `sql:"gate_ahead"`

	ChangeLimits      string `sql:"change_limits"`
	LockLimitsVersion string `sql:"lock_limits_version"`
	LimitRows         string `sql:"limit_rows"`
	AddLimit          string `sql:"add_limit"`
	RemovedLimits     string `sql:"removed_limits"`
	SetsInUse         string `sql:"sets_in_use"`
	AllSets           string `sql:"all_sets"`
	PruneLimits       string `sql:"prune_limits"`
	DropDeltasOf      string `sql:"drop_deltas_of"`
	DropSets          string `sql:"drop_sets"`
	StoreLimit        string `sql:"store_limit"`
	LockAllRunning    string `sql:"lock_all_running"`
	LockAllWaiting    string `sql:"lock_all_waiting"`
	HoldRunning       string `sql:"hold_running"`
	HoldWaiting       string `sql:"hold_waiting"`
	Holders           string `sql:"holders"`

	LimitUse     string `sql:"limit_use"`
	LockLimits   string `sql:"lock_limits"`
	DeltasOf     string `sql:"deltas_of"`
	ForgetDeltas string `sql:"forget_deltas"`
	KeepLimits   string `sql:"keep_limits"`
	AddDeltas    string `sql:"add_deltas"`
	HeldBy       string `sql:"held_by"`
	SetsNamed    string `sql:"sets_named"`
	SetNumbered  string `sql:"set_numbered"`
	AddSets      string `sql:"add_sets"`

	Attempts string `sql:"attempts"`

	AddSchedule      string `sql:"add_schedule"`
	SetSchedule      string `sql:"set_schedule"`
	DeleteSchedule   string `sql:"delete_schedule"`
	Schedules        string `sql:"schedules"`
	SchedulesSoonest string `sql:"schedules_soonest"`
	LockOldSchedules string `sql:"lock_old_schedules"`
	DropSchedules    string `sql:"drop_schedules"`

	OpenWindow     string `sql:"open_window"`
	EndedSchedules string `sql:"ended_schedules"`
	FiresChosen    string `sql:"fires_chosen"`
	Fires          string `sql:"fires"`
	ScheduleOfRun  string `sql:"schedule_of_run"`
	LockDeclared   string `sql:"lock_declared"`
	ReopenFire     string `sql:"reopen_fire"`
	DropFires      string `sql:"drop_fires"`
	NoteDeleted    string `sql:"note_deleted"`

	ShareCalendar string `sql:"share_calendar"`

	Batches         string `sql:"batches"`
	OutRanges       string `sql:"out_ranges"`
	RunningAmong    string `sql:"running_among"`
	Chunks          string `sql:"chunks"`
	ChunksWithTasks string `sql:"chunks_with_tasks"`
	ChunksHeld      string `sql:"chunks_held"`
	ChunksOut       string `sql:"chunks_out"`
	ChunksOfAll     string `sql:"chunks_of_all"`
	Ends            string `sql:"ends"`
	Memos           string `sql:"memos"`
	LockJobRange    string `sql:"lock_job_range"`
	BegunBetween    string `sql:"begun_between"`
	RecallLater     string `sql:"recall_later"`
	RecallReady     string `sql:"recall_ready"`
	RecallParked    string `sql:"recall_parked"`
	LockOldBatch    string `sql:"lock_old_batch"`
	LockUnopened    string `sql:"lock_unopened"`

	Session           string `sql:"session"`
	ClockAtLanes      string `sql:"clock_at_lanes"`
	WaitNever         string `sql:"wait_never"`
	WaitAsUsual       string `sql:"wait_as_usual"`
	Savepoint         string `sql:"savepoint"`
	ReturnToSavepoint string `sql:"return_to_savepoint"`
	ReleaseSavepoint  string `sql:"release_savepoint"`
	TakeIDs           string `sql:"take_ids"`
	AddLanes          string `sql:"add_lanes"`
	ReopenLanes       string `sql:"reopen_lanes"`
	NamedLanes        string `sql:"named_lanes"`
	LanesByID         string `sql:"numbered_lanes"`
	LanesAbove        string `sql:"lanes_above"`

	Engine       string `sql:"engine"`
	ServerName   string `sql:"server_name"`
	ServerUptime string `sql:"server_uptime"`
	ServerNumber string `sql:"server_number"`
	LockServer   string `sql:"lock_server"`
	Losses       string `sql:"losses"`
	AddLoss      string `sql:"add_loss"`
	SetServer    string `sql:"set_server"`
	AnchorFences string `sql:"anchor_fences"`
	LastFence    string `sql:"last_fence"`
	LockLastJob  string `sql:"lock_last_job"`
	SetLastJob   string `sql:"set_last_job"`
	AddDeadNode  string `sql:"add_dead_node"`
	DropDeadNode string `sql:"drop_dead_node"`

	LaneWalk          string `sql:"lane_walk"`
	TransactionsClock string `sql:"transactions_clock"`
	OlderTransactions string `sql:"older_transactions"`
	KeepLaneWalk      string `sql:"keep_lane_walk"`
	StampLanes        string `sql:"stamp_lanes"`
	LanesOfWindow     string `sql:"lanes_of_window"`
	SeeLanes          string `sql:"see_lanes"`
	LockUnusedLanes   string `sql:"lock_unused_lanes"`
	RetireLanes       string `sql:"retire_lanes"`
	LockRetiredLanes  string `sql:"lock_retired_lanes"`
	LastLane          string `sql:"last_lane"`
	RemoveLanes       string `sql:"remove_lanes"`
	LaneIDs           string `sql:"lane_ids"`
	SettledLane       string `sql:"settled_lane"`

	Sweeps       string `sql:"sweeps"`
	SweepSums    string `sql:"sweep_sums"`
	Orders       string `sql:"orders"`
	Checkpoint   string `sql:"checkpoint"`
	RunsUnder    string `sql:"runs_under"`
	AddFailed    string `sql:"add_failed"`
	LeaveAlone   string `sql:"leave_alone"`
	ForgetFailed string `sql:"forget_failed"`

	LockRunning   string `sql:"lock_running"`
	FreeRunning   string `sql:"free_running"`
	Succeed       string `sql:"succeed"`
	LeaveUnheld   string `sql:"leave_unheld"`
	LeaveFenced   string `sql:"leave_fenced"`
	LeaveRunning  string `sql:"leave_running"`
	Ended         string `sql:"ended"`
	EndedUnder    string `sql:"ended_under"`
	FencesOf      string `sql:"fences_of"`
	OrderOf       string `sql:"order_of"`
	ToLater       string `sql:"to_later"`
	ToReady       string `sql:"to_ready"`
	ToWaiting     string `sql:"to_waiting"`
	ToDone        string `sql:"to_done"`
	Record        string `sql:"record"`
	Remember      string `sql:"remember"`
	MarkReleased  string `sql:"mark_released"`
	KeysOf        string `sql:"keys_of"`
	FreeKeys      string `sql:"free_keys"`
	LockFreeKeys  string `sql:"lock_free_keys"`
	TakenKeys     string `sql:"taken_keys"`
	ForgetCrashes string `sql:"forget_crashes"`
}

// fillIn completes the statements that ask which sweep has still to see how a job ends, or
// read open runs.
func (s *statements) fillIn() {
	for _, text := range []*string{&s.LockOutdated, &s.Removable, &s.SweepOf} {
		*text = fill(*text, "running_sweep", s.RunningSweep)
	}
	s.OpenFires = fill(s.Fires, "choice", s.OpenFires)
}
