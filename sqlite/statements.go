package sqlite

import (
	"embed"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

//go:embed sql/*.sql migrations/*.sql
var files embed.FS

// statements holds the texts of sql/*.sql, where each is documented.
type statements struct {
	sqlstore.FeatureStatements

	InsertJobs   string `sql:"insert_jobs"`
	SetGates     string `sql:"set_gates"`
	PlaceDue     string `sql:"place_due"`
	PlaceUngated string `sql:"place_ungated"`
	PlaceGated   string `sql:"place_gated"`
	PlaceUndue   string `sql:"place_undue"`
	InsertLane   string `sql:"insert_lane"`
	LaneIs       string `sql:"lane_is"`
	ReopenLane   string `sql:"reopen_lane"`
	LaneID       string `sql:"lane_id"`
	NewLanes     string `sql:"new_lanes"`

	LaneWalk      string `sql:"lane_walk"`
	KeepLaneWalk  string `sql:"keep_lane_walk"`
	StampLanes    string `sql:"stamp_lanes"`
	LanesOfWindow string `sql:"lanes_of_window"`
	SeeLanes      string `sql:"see_lanes"`
	ReopenLanes   string `sql:"reopen_lanes"`
	RetireLanes   string `sql:"retire_lanes"`
	RemoveLanes   string `sql:"remove_lanes"`
	LaneIDs       string `sql:"lane_ids"`

	KeyHolder  string `sql:"key_holder"`
	TakeKey    string `sql:"take_key"`
	Counters   string `sql:"counters"`
	SetCounter string `sql:"set_counter"`
	Lock       string `sql:"lock"`

	Admissible      string `sql:"admissible"`
	PassGate        string `sql:"pass_gate"`
	LeaveParkedMany string `sql:"leave_parked_many"`
	TakePlaces      string `sql:"take_places"`
	LeaveGates      string `sql:"leave_gates"`
	GatesOf         string `sql:"gates_of"`
	BusyGates       string `sql:"busy_gates"`
	GateState       string `sql:"gate_state"`
	GateHolders     string `sql:"gate_holders"`

	ClaimCheck       string `sql:"claim_check"`
	ChangedLanes     string `sql:"changed_lanes"`
	LaneHeads        string `sql:"lane_heads"`
	SuspectLanes     string `sql:"suspect_lanes"`
	LaneKeys         string `sql:"lane_keys"`
	ClaimLane        string `sql:"claim_lane"`
	ClaimStarted     string `sql:"claim_started"`
	ToRunningRange   string `sql:"to_running_range"`
	LeaveReadyRange  string `sql:"leave_ready_range"`
	ClaimChosen      string `sql:"claim_chosen"`
	LeaveReadyChosen string `sql:"leave_ready_chosen"`
	ClaimSuspect     string `sql:"claim_suspect"`

	HeldOf       string `sql:"held_of"`
	Succeed      string `sql:"succeed"`
	StopMany     string `sql:"stop_many"`
	DoneBy       string `sql:"done_by"`
	SetOutput    string `sql:"set_output"`
	FreeKeys     string `sql:"free_keys"`
	Locate       string `sql:"locate"`
	LeaveLater   string `sql:"leave_later"`
	LeaveReady   string `sql:"leave_ready"`
	LeaveParked  string `sql:"leave_parked"`
	LeaveRunning string `sql:"leave_running"`
	LeaveWaiting string `sql:"leave_waiting"`
	LeaveDone    string `sql:"leave_done"`
	ToLater      string `sql:"to_later"`
	ToReady      string `sql:"to_ready"`
	ToParked     string `sql:"to_parked"`
	ToWaiting    string `sql:"to_waiting"`
	ToDone       string `sql:"to_done"`
	Record       string `sql:"record"`
	Recorded     string `sql:"recorded"`
	Keep         string `sql:"keep"`
	MarkReleased string `sql:"mark_released"`
	Save         string `sql:"save"`

	Wish           string `sql:"wish"`
	Answer         string `sql:"answer"`
	Extend         string `sql:"extend"`
	Tell           string `sql:"tell"`
	PolicyOf       string `sql:"policy_of"`
	SetOrder       string `sql:"set_order"`
	SetLane        string `sql:"set_lane"`
	SetLaneLater   string `sql:"set_lane_later"`
	DeleteJobs     string `sql:"delete_jobs"`
	DeleteAttempts string `sql:"delete_attempts"`
	DeleteMemos    string `sql:"delete_memos"`
	DeleteKeys     string `sql:"delete_keys"`

	PutLimit    string `sql:"put_limit"`
	LimitRows   string `sql:"limit_rows"`
	SavedStarts string `sql:"saved_starts"`
	SetTokens   string `sql:"set_tokens"`
	Ahead       string `sql:"ahead"`
	Bound       string `sql:"bound"`

	Schedules        string `sql:"schedules"`
	SchedulesSoonest string `sql:"schedules_soonest"`
	ScheduleNamed    string `sql:"schedule_named"`
	AddSchedule      string `sql:"add_schedule"`
	SetSchedule      string `sql:"set_schedule"`
	DeleteSchedule   string `sql:"delete_schedule"`
	ForgetSchedules  string `sql:"forget_schedules"`

	EndedSchedules string `sql:"ended_schedules"`
	Fires          string `sql:"fires"`
	LeaveFires     string `sql:"leave_fires"`
	AdmitFires     string `sql:"admit_fires"`
	DeclaredOfRun  string `sql:"declared_of_run"`
	ReopenFire     string `sql:"reopen_fire"`
	DeleteFires    string `sql:"delete_fires"`
	NoteDeleted    string `sql:"note_deleted"`

	Batches         string `sql:"batches"`
	EndedBatches    string `sql:"ended_batches"`
	UnopenedBatches string `sql:"unopened_batches"`
	Chunks          string `sql:"chunks"`
	ChunksTasks     string `sql:"chunks_tasks"`
	Ends            string `sql:"ends"`
	Recallable      string `sql:"recallable"`
	LeaveReadyMany  string `sql:"leave_ready_many"`
	Sweeps          string `sql:"sweeps"`
	SweepSums       string `sql:"sweep_sums"`
	Orders          string `sql:"orders"`
	Checkpoint      string `sql:"checkpoint"`
	BudgetUsed      string `sql:"budget_used"`
	AddFailed       string `sql:"add_failed"`
	LeaveAlone      string `sql:"leave_alone"`
	ForgetFailed    string `sql:"forget_failed"`

	Join   string `sql:"join"`
	Beat   string `sql:"beat"`
	Drain  string `sql:"drain"`
	Wishes string `sql:"wishes"`
	Leave  string `sql:"leave"`
	Held   string `sql:"held"`

	CountServer string `sql:"count_server"`
	AddLoss     string `sql:"add_loss"`

	Due            string `sql:"due"`
	NextDue        string `sql:"next_due"`
	Promote        string `sql:"promote"`
	Park           string `sql:"park"`
	LeaveLaterMany string `sql:"leave_later_many"`
	MarkDead       string `sql:"mark_dead"`
	Orphans        string `sql:"orphans"`
	Overdue        string `sql:"overdue"`
	Outdated       string `sql:"outdated"`
	Removable      string `sql:"removable"`
	CountingBatch  string `sql:"counting_batch"`
	RunningSweep   string `sql:"running_sweep"`
	NeededBy       string `sql:"needed_by"`
	LeaveDoneMany  string `sql:"leave_done_many"`
	PruneNodes     string `sql:"prune_nodes"`

	MarkLived      string `sql:"mark_lived"`
	HasLived       string `sql:"has_lived"`
	AddReaped      string `sql:"add_reaped"`
	ReapedFrom     string `sql:"reaped_from"`
	ForgetReaped   string `sql:"forget_reaped"`
	PruneReaped    string `sql:"prune_reaped"`
	Relabel        string `sql:"relabel"`
	UncrashLater   string `sql:"uncrash_later"`
	UncrashParked  string `sql:"uncrash_parked"`
	UncrashRunning string `sql:"uncrash_running"`
	UncrashWaiting string `sql:"uncrash_waiting"`

	PruneOnce   string `sql:"prune_once"`
	PruneAudit  string `sql:"prune_audit"`
	PruneLimits string `sql:"prune_limits"`

	Attempts    string `sql:"attempts"`
	Nodes       string `sql:"nodes"`
	DataVersion string `sql:"data_version"`
}

// Parts of statements that are statements themselves. They are filled in after all are
// loaded.
const (
	countingBatch = "counting_batch"
	runningSweep  = "running_sweep"
)

// fillIn completes the statements that ask which feature has still to see how a job
// ends, and those that are the same as others.
func (s *statements) fillIn() {
	s.LockSchedule = s.LockSchedules
	for _, text := range []*string{&s.Outdated, &s.Removable, &s.NeededBy} {
		*text = strings.NewReplacer(slot(countingBatch), s.CountingBatch, slot(runningSweep), s.RunningSweep).Replace(*text)
	}
}

func slot(name string) string { return "{{" + name + "}}" }
