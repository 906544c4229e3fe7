-- Statements that retire and remove lanes: see LaneWalk in internal/sqlstore. They run
-- in one transaction, under the lock of the walk.

-- name: lane_walk
-- Locks the walk and reads how far it has come.
-- Inputs: none.
-- Output: begun_at, after_job, ended_at, settled, removed, retired_at, the clock; no
--   row if another process has locked it.
-- Locks: the row of the walk; skips it if it is locked.
select begun_at, after_job, ended_at, settled, removed, retired_at, {{now}} from {{lane_walk}} where id = 1 for update skip locked;

-- name: transactions_clock
-- Reads the time as the server reports it for transactions: to the second, in the
-- server's own zone.
-- Inputs: none.
-- Output: time as text.
-- Locks: none.
select cast(convert_tz(sysdate(), @@session.time_zone, 'SYSTEM') as char);

-- name: older_transactions
-- Counts the open transactions that began before lanes were retired. Such a transaction
-- may have read a lane before, and may still store a job in it. The server makes a new
-- list only if none was read for a tenth of a second; a transaction in it that began
-- later proves that the list is not older. It needs the right PROCESS.
-- Inputs: retired_at, twice.
-- Output: how many; whether the list is younger than retired_at.
-- Locks: none.
select coalesce(sum(trx_started <= cast(? as datetime)), 0), coalesce(max(trx_started > cast(? as datetime)), 0)
from information_schema.innodb_trx;

-- name: keep_lane_walk
-- Records how far the walk has come.
-- Inputs: begun_at, after_job, ended_at, settled, removed, retired_at.
-- Output: none.
-- Locks: the row of the walk, locked before.
update {{lane_walk}} set begun_at = ?, after_job = ?, ended_at = ?, settled = ?, removed = ?, retired_at = ? where id = 1;

-- name: stamp_lanes
-- Starts the clock of lanes that no walk has met yet.
-- Inputs: now.
-- Output: none.
-- Locks: those lanes.
update {{lane}} set seen_at = ? where seen_at = 0;

-- name: lanes_of_window
-- Finds the lanes of the next jobs in the order of their ids.
-- Inputs: id after which to begin, limit.
-- Output: lane, how many of the jobs are in it, the last of their ids.
-- Locks: none.
select lane, count(*), max(id)
from (select id, lane from {{job}} force index (primary) where id > ? order by id limit ?) w
group by lane;

-- name: see_lanes
-- Records that lanes have jobs, and takes retired ones into use again.
-- Inputs: {{ids}}; now, begin of the walk.
-- Output: none.
-- Locks: those of the lanes that this walk has not seen yet.
update {{lane}} force index (primary) set seen_at = ?, retired_at = 0 where id in ({{ids}}) and (seen_at < ? or retired_at <> 0);

-- name: lock_unused_lanes
-- Locks lanes that were not seen for long, to retire them.
-- Inputs: time of the last sight, limit.
-- Output: id.
-- Locks: those lanes; skips locked rows.
select id from {{lane}} force index (primary)
where retired_at = 0 and seen_at <> 0 and seen_at < ?
order by id limit ? for update skip locked;

-- name: retire_lanes
-- Retires lanes.
-- Inputs: {{ids}}; now.
-- Output: none.
-- Locks: the lanes, locked before.
update {{lane}} force index (primary) set retired_at = ? where id in ({{ids}});

-- name: lock_retired_lanes
-- Locks lanes that were retired and not seen since, to remove them. The last lane of
-- all stays, so that no store can take a new lane's id for an old one.
-- Inputs: retired before, begin of the walk, id of the last lane, limit.
-- Output: id.
-- Locks: those lanes; skips locked rows.
select id from {{lane}} force index (primary)
where retired_at <> 0 and retired_at < ? and seen_at < ? and id < ?
order by id limit ? for update skip locked;

-- name: last_lane
-- Reads the id of the last lane.
-- Inputs: none.
-- Output: id, 0 if there is none.
-- Locks: none.
select coalesce(max(id), 0) from {{lane}};

-- name: remove_lanes
-- Removes lanes.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: the lanes, locked before.
delete l from {{lane}} l force index (primary) where id in ({{ids}}) and retired_at <> 0;

-- name: lane_ids
-- Lists all lanes.
-- Inputs: none.
-- Output: id.
-- Locks: none.
select id from {{lane}};

-- name: settled_lane
-- Finds the last lane that was created a while ago, among the last of all: no lane with
-- a smaller id can still be committed.
-- Inputs: microseconds.
-- Output: its id, or 0.
-- Locks: none.
select coalesce(max(id), 0)
from (select id, seen_at from {{lane}} force index (primary) order by id desc limit 1000) w
where seen_at <> 0 and seen_at < {{now}} - ?;
