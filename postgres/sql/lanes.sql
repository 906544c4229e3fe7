-- Statements that retire and remove lanes: see LaneWalk in internal/sqlstore. They run
-- in one transaction, under the lock of the walk.

-- name: lane_walk
-- Locks the walk and reads how far it has come.
-- Output: begun_at, after_job, ended_at, settled, removed, the clock; no row if another
--   process has locked it.
-- Locks: the row of the walk; passes over it if another process has locked it.
select begun_at, after_job, ended_at, settled, removed, {{now}} from {{lane_walk}} where id = 1 for update skip locked;

-- name: lanes_settled
-- Reports whether no transaction is open that is older than the last one that retired
-- lanes. Such a transaction may have read a lane before, and may still store a job in
-- it. A transaction that has written nothing shows only in the activity of its session.
-- Output: one row.
-- Locks: none.
select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > w.retired_by
   and (select true from pg_stat_activity a
        where a.datname = current_database() and a.pid <> pg_backend_pid()
          and age(a.backend_xmin) >= age((w.retired_by % 4294967296)::text::xid)
        limit 1) is null
from {{lane_walk}} w where w.id = 1;

-- name: keep_lane_walk
-- Records how far the walk has come.
-- Inputs: $1 begun_at, $2 after_job, $3 ended_at, $4 settled, $5 removed, $6 whether
--   this transaction has retired lanes.
-- Locks: the row of the walk, locked before.
update {{lane_walk}}
set begun_at = $1::bigint, after_job = $2::bigint, ended_at = $3::bigint, settled = $4::boolean, removed = $5::bigint,
    retired_by = case when $6::boolean then pg_current_xact_id()::text::bigint else retired_by end
where id = 1;

-- name: stamp_lanes
-- Starts the clock of lanes that no walk has met yet.
-- Inputs: $1 now.
-- Locks: those lanes; passes over lanes that other transactions have locked.
update {{lane}} set seen_at = $1::bigint
where id = any (array(select id from {{lane}} where seen_at = 0 for update skip locked));

-- name: lanes_of_window
-- Finds the lanes of the next jobs in the order of their ids.
-- Inputs: $1 id after which to begin, $2 limit.
-- Output: lane, how many of the jobs are in it, the last of their ids.
-- Locks: none.
select lane, count(*), max(id) from (select id, lane from {{job}} where id > $1::bigint order by id limit $2::int) w group by lane;

-- name: see_lanes
-- Records that lanes have jobs, and takes retired ones into use again.
-- Inputs: $1 lanes, $2 begin of the walk, $3 now.
-- Locks: those of the lanes that this walk has not seen yet, in order.
with chosen as materialized (
    select id from {{lane}} where id = any ($1::int[]) and (seen_at < $2::bigint or retired_at <> 0) order by id for update
)
update {{lane}} set seen_at = $3::bigint, retired_at = 0 where id = any (array(select id from chosen));

-- name: lanes_of_schedules
-- Finds the lanes of schedules' runs, including those of deleted schedules.
-- Output: lane.
-- Locks: none.
select distinct lane from {{schedule}};

-- name: retire_lanes
-- Retires lanes that were not seen for long.
-- Inputs: $1 seen before, $2 now, $3 limit.
-- Output: how many.
-- Locks: those lanes; passes over lanes that other transactions have locked.
with retired as (
    update {{lane}} set retired_at = $2::bigint
    where id = any (array(
        select id from {{lane}} where retired_at = 0 and seen_at <> 0 and seen_at < $1::bigint order by id limit $3::int for update skip locked))
      and retired_at = 0
    returning 1
)
select count(*) from retired;

-- name: remove_lanes
-- Removes lanes that were retired and not seen since. The last lane of all stays, so
-- that no store can take a new lane's id for an old one.
-- Inputs: $1 retired before, $2 begin of the walk, $3 limit.
-- Output: id.
-- Locks: those lanes; passes over lanes that other transactions have locked.
delete from {{lane}}
where id = any (array(
    select id from {{lane}}
    where retired_at <> 0 and retired_at < $1::bigint and seen_at < $2::bigint and id < (select max(id) from {{lane}})
    order by id limit $3::int for update skip locked))
  and retired_at <> 0
returning id;

-- name: lane_ids
-- Lists all lanes.
-- Output: id.
-- Locks: none.
select id from {{lane}};

-- name: settled_lane
-- Finds the last lane that was created a while ago, among the last of all: no lane with
-- a smaller id can still be committed.
-- Inputs: $1 microseconds.
-- Output: its id, or 0.
-- Locks: none.
select coalesce(max(id), 0)
from (select id, seen_at from {{lane}} order by id desc limit 1000) w
where seen_at <> 0 and seen_at < (select {{now}}) - $1::bigint;
