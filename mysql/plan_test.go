package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// TestPlans checks that what locks rows looks them up by their keys, whatever
// the server thinks of the size of the tables: a scan would wait for rows of
// others and make them wait.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), Migrated.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, size := range []int{0, 3, 40, 3000} {
		t.Run(fmt.Sprint(size, " rows"), func(t *testing.T) {
			grow(t, s, size)
			for name, statement := range s.lockingStatements(12) {
				plan := explain(t, s, statement)
				for _, read := range plan {
					switch read.kind {
					case "const", "eq_ref", "ref", "range", "system", "index_subquery", "unique_subquery":
						continue
					case "ALL":
						if derived(read.table) {
							continue // the list itself
						}
					case "": // nothing can match, or no table is needed
						continue
					}
					t.Errorf("%s reads %s by %q (%s)", name, read.table, read.kind, read.extra)
				}
			}
		})
	}
	t.Run("chunks that are held or out are found by that, and open batches", func(t *testing.T) {
		for index, statement := range map[string]string{
			"held":    s.chosenChunks(1, batch.ChunkFilter{Held: true}),
			"outside": s.chosenChunks(1, batch.ChunkFilter{Out: true}),
			"open":    s.chosenBatches(batch.Filter{Open: true}),
			"tenant":  s.chosenBatches(batch.Filter{Tenants: []string{"tenant1"}}),
		} {
			plan := explain(t, s, fill(statement, "known", "0"))
			if !slices.ContainsFunc(plan, func(a tableRead) bool { return a.key == index }) {
				t.Errorf("%s is not used: %+v", index, plan)
			}
		}
	})
	t.Run("what failed lately is found by its end", func(t *testing.T) {
		find, _ := s.query.Find(fairlead.Filter{States: []fairlead.State{fairlead.Failed}, FinishedFrom: time.Now()}, sqlstore.Window{})
		plan := explain(t, s, strings.Replace(find, "?", "1", 1))
		if !slices.ContainsFunc(plan, func(a tableRead) bool { return a.table == "p" && a.kind == "range" }) {
			t.Errorf("it is planned as %+v", plan)
		}
	})
	t.Run("what failed lately is counted by its end", func(t *testing.T) {
		plan := explain(t, s, strings.Replace(strings.Replace(s.sql.CountFailures, "?", "1", 1), "?", "9", 1))
		if !slices.ContainsFunc(plan, func(a tableRead) bool { return a.key == "age" && a.kind == "range" }) {
			t.Errorf("it is planned as %+v", plan)
		}
	})
	t.Run("the few schedules that are not enabled are found by that", func(t *testing.T) {
		no := false
		find := fill(s.sql.Schedules, "named", chosenSchedules(schedule.Filter{Enabled: &no}))
		plan := explain(t, s, strings.Replace(strings.Replace(find, "?", "''", 1), "?", "100", 1))
		if !slices.ContainsFunc(plan, func(a tableRead) bool { return a.key == "enabled" }) {
			t.Errorf("it is planned as %+v", plan)
		}
	})
	t.Run("the schedules that fire next are the first of an index", func(t *testing.T) {
		plan := explain(t, s, strings.Replace(s.sql.SchedulesSoonest, "?", "100", 1))
		if !slices.ContainsFunc(plan, func(a tableRead) bool { return a.key == "next_fire" && !strings.Contains(a.extra, "filesort") }) {
			t.Errorf("it is planned as %+v", plan)
		}
	})
	t.Run("busy lanes and gates are skipped through", func(t *testing.T) {
		for name, statement := range map[string]string{"busy_lanes": s.sql.BusyLanes, "parked_gates": s.sql.ParkedGates} {
			plan := explain(t, s, statement)
			if !slices.ContainsFunc(plan, func(a tableRead) bool { return strings.Contains(a.extra, "Using index for group-by") }) {
				t.Errorf("%s is planned as %+v", name, plan)
			}
		}
	})
}

// lockingStatements are the statements that lock rows, for n jobs.
func (s *Store) lockingStatements(n int) map[string]string {
	jsonKeys, held, kept, places := tuples{json: true}, tuples{json: true}, tuples{json: true}, tuples{json: true}
	var names tuples
	instants, moved := tuples{json: true}, tuples{json: true}
	var ids []int64
	for i := range int64(n) {
		jsonKeys.add().ints(1, 0, 5, i).end()
		held.add().str("tenant").str(fmt.Sprint("key", i)).int(i).end()
		names.add().str("tenant").str(fmt.Sprint("key", i)).end()
		places.add().ints(i, i).end()
		instants.add().ints(i, i).end()
		moved.add().ints(i, 1, 1, 1, 1).str("cron").int(1).str("failed").ints(1, 0).str("{}").int(1).end()
		kept.add().ints(i, 1).float(0.5).int(1).end()
		ids = append(ids, i)
	}
	list := ""
	for chunk := range idChunks(ids) {
		list = chunk
	}
	condition, place := among(ids), readyPlace{1, 0, 5}
	ranges := idRange{1, 9}.at(place) + " or " + idRange{20, 29}.at(place)
	marks := func(statement string, values ...string) string {
		for _, value := range values {
			statement = strings.Replace(statement, "?", value, 1)
		}
		return statement
	}
	numbered := func(statement string, values ...any) string {
		text, ordered := unnumber(statement, values)
		for _, value := range ordered {
			text = strings.Replace(text, "?", value.(string), 1)
		}
		return text
	}
	statements := map[string]string{
		"claim_check":         marks(s.sql.ClaimCheck, "1", "'x'", "1"),
		"claim_lane":          marks(s.sql.ClaimLane, "1", "'x'", "'x'", "'x'", "1", "0", "10"),
		"lane_heads":          fill(s.sql.LaneHeads, "lane_id", "1", "solo", "0", "limit", "10"),
		"lane_firsts":         fill(s.sql.LaneFirsts, "ids", list, "solo", "0"),
		"lane_keys":           fill(s.sql.LaneKeys, "ids", list, "solo", "0"),
		"claim_chosen":        fill(s.sql.ClaimChosen, "solo", "0", "rows", string(jsonKeys.text), "count", "2", "chosen", sameLanes([]sqlstore.Lane{{ID: 1}, {ID: 2}})),
		"leave_ready":         fill(s.sql.LeaveReady, "solo", "0", "rows", string(jsonKeys.text)),
		"leave_spans":         fill(s.sql.LeaveReadyRanges, "solo", "0", "spans", ranges),
		"lease_spans":         fill(s.sql.ToRunningRanges, "fence_no", "1", "node_id", "1", "clock", "1", "set", "1", "solo", "0", "spans", ranges),
		"lock_running":        fill(s.sql.LockRunning, "ids", list),
		"free_running":        fill(s.sql.FreeRunning, "ids", list),
		"fences_of":           fill(s.sql.FencesOf, "ids", list),
		"ended_under":         fill(s.sql.EndedUnder, "fence_no", "1", "ids", list),
		"lock_free_keys":      fill(s.sql.LockFreeKeys, "rows", string(names.text)),
		"taken_keys":          fill(s.sql.TakenKeys, "rows", string(names.text)),
		"succeed":             fill(s.sql.Succeed, "clock", "1", "fence_no", "1", "among", condition),
		"leave_unheld":        fill(s.sql.LeaveUnheld, "fence_no", "1", "among", condition),
		"leave_fenced":        fill(s.sql.LeaveFenced, "fence_no", "1", "among", condition),
		"leave_running":       fill(s.sql.LeaveRunning, "among", condition),
		"leave_later":         fill(s.sql.LeaveLater, "among", condition),
		"leave_one":           marks(s.sql.LeaveReadyOne, "1", "0", "0", "5", "1"),
		"leave_waiting":       fill(s.sql.LeaveWaiting, "among", condition),
		"leave_done":          fill(s.sql.LeaveDone, "among", condition),
		"ended":               fill(s.sql.Ended, "ids", list),
		"order_of":            fill(s.sql.OrderOf, "ids", list),
		"keys_of":             fill(s.sql.KeysOf, "ids", list),
		"free_keys":           fill(s.sql.FreeKeys, "rows", string(held.text)),
		"key_holders":         fill(s.sql.KeyHolders, "rows", string(names.text)),
		"place_due":           fill(s.sql.PlaceDue, "among", condition),
		"pass_key":            fill(s.sql.PassKey, "id", "1", "tenant_name", literal("tenant"), "key_name", literal("key1")),
		"lock_job":            marks(s.sql.LockJob, "1"),
		"place_of":            marks(s.sql.PlaceOf, "1"),
		"lock_later":          marks(s.sql.LockLater, "1"),
		"lock_ready":          marks(s.sql.LockReady, "1", "0", "0", "5", "1"),
		"lock_waiting":        marks(s.sql.LockWaiting, "1"),
		"lock_done":           marks(s.sql.LockDone, "1"),
		"lock_due":            marks(s.sql.LockDue, "1", "10"),
		"lock_overdue":        fill(s.sql.LockOverdue, "ids", list),
		"lock_outdated":       marks(s.sql.LockOutdated, "1", "9", "1", "1", "1", "10"),
		"removable":           marks(fill(s.sql.Removable, "ids", list), "1", "9"),
		"lock_jobs":           fill(s.sql.LockJobs, "ids", list),
		"drop_attempts":       fill(s.sql.DropAttempts, "ids", list),
		"drop_memos":          fill(s.sql.DropMemos, "ids", list),
		"drop_jobs":           fill(s.sql.DropJobs, "among", condition),
		"set_order":           marks(s.sql.SetOrder, "1", "1", "1", "1"),
		"wish":                marks(s.sql.Wish, "'x'", "1"),
		"count_wish":          marks(s.sql.CountWish, "1"),
		"take_ids":            marks(s.sql.TakeIDs, "1000"),
		"beat":                marks(s.sql.Beat, "1", "1", "1", "1", "1", "'x'", "1"),
		"change_limits":       marks(s.sql.ChangeLimits, "1"),
		"lock_limits_version": s.sql.LockLimitsVersion,
		"leave":               marks(s.sql.Leave, "''", "1", "'x'"),
		"mark_dead":           marks(s.sql.MarkDead, "''", "1"),
		"reopen_lanes":        fill(s.sql.ReopenLanes, "rows", "('a','a','a'),('b','b','b')"),
		"lock_server":         s.sql.LockServer,
		"set_server":          marks(s.sql.SetServer, "1", "'x'"),
		"last_job":            s.sql.LockLastJob,
		"set_last_job":        marks(s.sql.SetLastJob, "1"),
		"dead_node":           marks(s.sql.DropDeadNode, "1"),
		"store_limit":         marks(s.sql.StoreLimit, "1", "1", "1", "1", "1", "'fair'", "1", "1", "1"),
		"forget_fair":         marks(s.sql.ForgetFairStarts, "5"),
		"hold_running":        fill(s.sql.HoldRunning, "set", "1", "among", condition),
		"hold_waiting":        fill(s.sql.HoldWaiting, "set", "1", "among", condition),
		"limit_use":           fill(s.sql.LimitUse, "ids", list),
		"lock_limits":         fill(s.sql.LockLimits, "ids", list, "wait", skipLocked),
		"await_limits":        fill(s.sql.LockLimits, "ids", list, "wait", waitForLock),
		"deltas_of":           fill(s.sql.DeltasOf, "ids", list),
		"forget_deltas":       fill(s.sql.ForgetDeltas, "among", condition),
		"keep_limits":         fill(s.sql.KeepLimits, "rows", string(kept.text)),
		"lock_parked":         marks(s.sql.LockParked, "1", "0", "5", "1"),
		"leave_parked":        fill(s.sql.LeaveParked, "rows", string(jsonKeys.text)),
		"places_of":           fill(s.sql.PlacesOf, "rows", string(places.text)),
		"vacate":              fill(s.sql.LeaveGates, "rows", string(places.text)),
		"share_limits":        s.sql.ShareLimits,
		"known_gates":         fill(s.sql.KnownGates, "ids", list),
		"idle_gates":          fill(s.sql.LockIdleGates, "ids", list),
		"news_of":             fill(s.sql.NewsOf, "ids", list),
		"gate_state":          fill(s.sql.GateState, "gate_id", "1"),
		"first_parked":        fill(s.sql.LockFirstParked, "gate_id", "1", "limit", "10"),
		"drop_news":           fill(s.sql.DropNews, "among", condition),
		"drop_gates":          fill(s.sql.DropGates, "ids", list),
		"news_gates":          marks(s.sql.GatesWithNews, "1", "1000", "10"),
		"gate_holders":        marks(s.sql.GateHolders, "1", "5"),
		"gate_ahead":          fill(s.sql.GateAhead, "gate_id", "1", "turn", "0", "start_by", "5", "id", "7", "limit", "10"),
		"noted_request":       marks(s.sql.NotedRequest, "'ann'", "'key1'"),
		"correct_request":     marks(s.sql.CorrectRequest, "'[1]'", "'ann'", "'key1'"),
		"old_requests":        marks(s.sql.LockOldOnce, "1", "10"),
		"prune_once":          fill(s.sql.PruneOnce, "rows", string(names.text)),
		"old_entries":         marks(s.sql.LockOldAudit, "1", "10"),
		"prune_audit":         fill(s.sql.PruneAudit, "among", condition),
		"touch_token":         marks(s.sql.TouchToken, "1", "60000000"),
		"delete_token":        marks(s.sql.DeleteToken, "1"),
		"drain":               marks(s.sql.Drain, "1", "1"),
		"all_jobs":            fill(s.sql.LockAllJobs, "ids", list),
		"all_later":           fill(s.sql.LockAllLater, "ids", list),
		"places":              fill(s.sql.PlacesOfJobs, "ids", list),
		"set_due":             fill(s.sql.SetDue, "clock", "5", "among", condition),
		"due_schedules":       fill(numbered(s.sql.LockDueSchedules, "10"), "clock", "1", "except", "0"),
		"schedules":           fill(s.sql.LockSchedules, "list", list),
		"set_schedule":        marks(s.sql.SetSchedule, "'a'", "'a'", "'a'", "1", "'{}'", "2", "1", "1", "1", "1", "1", "1"),
		"delete_schedule":     marks(s.sql.DeleteSchedule, "1", "1"),
		"move":                fill(s.sql.AdvanceSchedules, "json_rows", string(moved.text)),
		"next_fire":           fill(s.sql.NextFire, "except", "0"),
		"old_schedules":       marks(s.sql.LockOldSchedules, "1", "10"),
		"drop_scheds":         fill(s.sql.DropSchedules, "among", condition),
		"open_window":         marks(s.sql.OpenWindow, "1", "10"),
		"ended_runs":          marks(s.sql.EndedSchedules, "1", "100", "10"),
		"lock_open":           fill(s.sql.LockOpenFires, "list", list),
		"newest_instants":     fill(s.sql.NewestInstants, "list", list),
		"open_states":         fill(s.sql.OpenFires, "list", list),
		"latest_states":       fill(s.sql.LastFires, "list", list),
		"instants":            fill(s.sql.TakenInstants, "json_rows", string(instants.text)),
		"close_fires":         fill(s.sql.CloseFires, "json_rows", string(instants.text)),
		"reopen_fire":         marks(s.sql.ReopenFire, "1"),
		"drop_fires":          fill(s.sql.DropFires, "among", condition),
		"calendar":            marks(s.sql.ChangeCalendars, "1"),
		"share_cal":           marks(s.sql.ShareCalendar, "'name1'"),
		"delete_cal":          marks(s.sql.DeleteCalendar, "'name1'"),
		"calendar_user":       marks(s.sql.CalendarUser, "'name1'"),
		"calendars_of":        fill(s.sql.CalendarsOf, "list", list),
		"outdated_cals":       marks(s.sql.OutdatedCalendars, "1", "500"),
		"outdated":            numbered(s.sql.OutdatedSchedules, "'name1'", "1", "10"),
		"take_look":           marks(s.sql.TakeLook, "5000000"),
		"end_look":            marks(s.sql.EndLook, "1", "1", "1"),
		"keep_standing":       marks(s.sql.KeepStanding, "'{}'", "'name1'", "1"),
		"remove_alert":        marks(s.sql.RemoveAlert, "'name1'"),
		"forget_missed":       marks(s.sql.ForgetMissed, "1"),
		"keep_hold_look":      marks(s.sql.KeepHoldLook, "1", "1", "1", "1", "1"),
		"end_holds":           marks(fill(s.sql.EndHolds, "list", list), "1"),
		"prune_holds":         marks(s.sql.PruneHolds, "1", "10"),
		"forget_samples":      marks(s.sql.ForgetSamples, "1"),
		"samples":             marks(s.sql.Samples, "1", "10", "10"),
		"open_holds":          marks(s.sql.OpenHolds, "10"),
		"ready_lanes":         marks(s.sql.ReadyLanes, "1", "10"),
		"busy_gates_after":    marks(s.sql.BusyGatesAfter, "1", "10"),
		"limits_now":          fill(s.sql.LimitsNow, "list", list),
		"lock_sweep":          marks(s.sql.TrySweep, "1"),
		"replace_sweep":       marks(s.sql.ReplaceSweep, "'a'", "'a'", "'{}'", "1"),
		"keep_sweep":          marks(s.sql.KeepSweep, "'running'", "1", "'{}'", "'{}'", "1"),
		"delete_sweep":        marks(s.sql.DeleteSweep, "1"),
		"drop_shards":         marks(s.sql.DropShards, "1"),
		"drop_progress":       marks(s.sql.DropProgress, "1"),
		"drop_failed":         marks(s.sql.DropFailed, "1"),
		"forget_failed":       marks(fill(s.sql.ForgetFailed, "ids", list), "1"),
		"retry_failed":        marks(fill(s.sql.RetryFailed, "list", list), "1"),
		"retry_all":           marks(s.sql.RetryAllFailed, "1"),
		"reopen_shard":        marks(s.sql.ReopenShard, "1", "1", "1", "1"),
		"dismiss":             marks(s.sql.Dismiss, "1", "1"),
		"shard_states":        marks(s.sql.ShardsAndStates, "1"),
		"leave_alone":         marks(s.sql.LeaveAlone, "1", "1"),
		"drop_logs":           fill(s.sql.DropLogs, "list", list),
		"drop_all_logs":       marks(s.sql.DropSweepLogs, "1"),
		"drop_events":         fill(s.sql.DropEvents, "list", list),
		"drop_history":        marks(s.sql.DropSweepEvents, "1"),
		"drop_sweep_items":    marks(s.sql.DropSweepItems, "1"),
		"orders":              marks(s.sql.Orders, "1", "1", "1", "1", "1", "1", "1"),
		"checkpoint":          marks(s.sql.Checkpoint, "1", "1", "1", "null", "null", "null", "1", "1", "1", "1", "1", "1", "1", "0", "1", "1", "0", "1", "1", "1", "1"),
		"held_by":             fill(s.sql.HeldBy, "fence_no", "1", "among", condition),
	}
	maps.Copy(statements, s.batchStatements(ids, marks))
	return statements
}

// grow makes the tables as large as given, and tells the server.
func grow(t *testing.T, s *Store, size int) {
	t.Helper()
	tables := map[string]string{
		"job":            "(id, lane, turn, start_by, not_before, created_at, flags) values (%[1]d, 1, 0, 5, 0, 5, 0)",
		"ready":          "(lane, solo, turn, start_by, id, attempt, failures, crashes) values (1, 0, 0, 5, %[1]d, 0, 0, 0)",
		"later":          "(id, lane, not_before, attempt, failures, crashes) values (%[1]d, 1, %[1]d, 0, 0, 0)",
		"running":        "(id, fence, node, lane, attempt, failures, crashes, started_at) values (%[1]d, 1, 1, 1, 0, 0, 0, 0)",
		"waiting":        "(id, fence, node, lane, attempt, failures, crashes, started_at, deadline) values (%[1]d, 1, 1, 1, 0, 0, 0, 0, %[1]d)",
		"done":           "(id, lane, outcome, fence, node, attempt, failures, crashes, started_at, finished_at) values (%[1]d, 1, 1, 1, 1, 0, 0, 0, 0, %[1]d)",
		"parked":         "(gate, turn, start_by, id, lane, attempt, failures, crashes) values (%[1]d %% 7, 0, 5, %[1]d, 1, 0, 0, 0)",
		"admitted":       "(gate, id) values (%[1]d, %[1]d)",
		"gate":           "(id) values (%[1]d)",
		"sample":         "(bucket, started, running) values (%[1]d, 1, 1)",
		"hold":           "(id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap) values (%[1]d, 'paused', 'queue', 'q', '', '', '', 1, %[1]d, 0, 0)",
		"gate_news":      "(gate) values (%[1]d)",
		"memo":           "(id) values (%[1]d)",
		"jobkey":         "(tenant, job_key, id) values ('tenant', 'key%[1]d', %[1]d)",
		"quota":          "(scope, name, cap, least, rate, burst, used, tokens, refilled_at) values ('tenant', 'name%[1]d', 1, 0, 0, 0, 0, 0, 0)",
		"fair_start":     "(bucket, node, scope, tenant, started) values (%[1]d, 1, '', 'tenant', 1)",
		"quota_delta":    "(quota, n) values (%[1]d, 1)",
		"once":           "(caller, once_key, request, job_ids, created_at) values ('ann', 'key%[1]d', 'x', '[]', %[1]d)",
		"audit":          "(at, actor, role, address, action, subject, tenant, error) values (%[1]d, 'ann', '', '', 'CancelJob', 'job:%[1]d', '', '')",
		"token":          "(name, hash, role, created_at, expires_at, last_used) values ('name%[1]d', '%[1]d', 'viewer', 0, 0, 0)",
		"schedule":       "(name, tenant, calendar, enabled, body, version, created_at, updated_at, due, fire_at, next_fire) values ('name%[1]d', 'tenant', 'name%[1]d', 1, '{}', 1, 0, 0, %[1]d, %[1]d, %[1]d)",
		"fire":           "(id, schedule, due, source, cause, number, skip) values (%[1]d, %[1]d %% 50, %[1]d, 0, 'cron', 1, '')",
		"open_fire":      "(id, schedule, due, cause, number) values (%[1]d, %[1]d, %[1]d, 'cron', 1)",
		"calendar":       "(name, body, version) values ('name%[1]d', '{}', 1)",
		"alert":          "(name, scope, created_at, updated_at, body) values ('name%[1]d', 'global', 1, 1, '{}')",
		"missed_start":   "(bucket, queue, tenant, kind, jobs) values (%[1]d, 'queue', 'tenant', 'kind', 1)",
		"sweep":          "(name, tenant, state, version, created_at, body, status) values ('name%[1]d', 'tenant', 'running', 1, 0, '{}', '{}')",
		"shard":          "(sweep, number, job) values (%[1]d / 4, %[1]d, %[1]d)",
		"shard_progress": "(sweep, number, from_index, to_index, ended, mark) values (%[1]d / 4, %[1]d, 0, 1, 0, 0)",
		"failed_item":    "(sweep, idx, attempts, error, at) values (%[1]d / 4, %[1]d, 0, '', 0)",
		"sweep_log":      "(sweep, idx, level, text, at) values (%[1]d / 4, %[1]d, '', '', 0)",
		"sweep_event":    "(sweep, at, actor, action, was, became, note) values (%[1]d / 4, %[1]d, '', '', '', '', '')",
		"node":           "(name, info, idle, queued, joined_at, last_beat, lease_until, dead) values ('', '', 0, 0, 0, 0, 0, %[1]d * 0)",
	}
	maps.Copy(tables, batchRows)
	for table, row := range tables {
		name := s.expand(table)
		columns, values, _ := strings.Cut(row, " values ")
		statements := []string{"delete from " + name}
		if size > 0 {
			list := make([]string, size)
			for id := range list {
				list[id] = fmt.Sprintf(values, id)
			}
			statements = append(statements, "insert into "+name+" "+columns+" values "+strings.Join(list, ", "))
		}
		for _, statement := range append(statements, "analyze table "+name) {
			if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// tableRead is how a plan reads one table.
type tableRead struct{ table, kind, key, extra string }

func explain(t *testing.T, s *Store, statement string) (plan []tableRead) {
	t.Helper()
	ctx := context.Background()
	answer, err := s.db.QueryContext(ctx, "explain "+statement)
	if err != nil {
		t.Fatalf("explain %s: %v", statement, err)
	}
	defer answer.Close()
	columns, err := answer.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for answer.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := answer.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var a tableRead
		for i, column := range columns {
			switch strings.ToLower(column) {
			case "table":
				a.table = values[i].String
			case "type":
				a.kind = values[i].String
			case "key":
				a.key = values[i].String
			case "extra":
				a.extra = values[i].String
			}
		}
		plan = append(plan, a)
	}
	if err := answer.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}
