-- Statements that retire and remove lanes: see LaneWalk in internal/sqlstore. They run
-- in one transaction that has the write lock: no other transaction stores a job
-- meanwhile.

-- name: lane_walk
-- Reads how far the walk has come.
-- Inputs: none.  Output: begun_at, after_job, ended_at.  Locks: none.
select begun_at, after_job, ended_at from {{lane_walk}} where id = 1;

-- name: keep_lane_walk
-- Records how far the walk has come.
-- Inputs: begun_at, after_job, ended_at.  Output: none.  Locks: the writer's.
update {{lane_walk}} set begun_at = ?, after_job = ?, ended_at = ? where id = 1;

-- name: stamp_lanes
-- Starts the clock of lanes that no walk has met yet.
-- Inputs: now.  Output: none.  Locks: the writer's.
update {{lane}} set seen_at = ? where seen_at = 0;

-- name: lanes_of_window
-- Finds the lanes of the next jobs in the order of their ids.
-- Inputs: id after which to begin, limit.
-- Output: lane, how many of them are in it, the last of their ids.  Locks: none.
select lane, count(*), max(id)
from (select id, lane from {{job}} where id > ? order by id limit 0 + ?)
group by lane;

-- name: see_lanes
-- Records that lanes have jobs.
-- Inputs: now, ids as a JSON array, begin of the walk.  Output: none.
-- Locks: the writer's.
update {{lane}} set seen_at = ? where id in (select value from json_each(?)) and seen_at < ?;

-- name: reopen_lanes
-- Takes retired lanes into use again.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
update {{lane}} set retired_at = 0 where id in (select value from json_each(?)) and retired_at <> 0;

-- name: retire_lanes
-- Retires lanes that were not seen for long.
-- Inputs: now, time of the last sight, limit.  Output: none.  Locks: the writer's.
update {{lane}} set retired_at = ?
where id in (select id from {{lane}} where retired_at = 0 and seen_at <> 0 and seen_at < ? order by id limit 0 + ?);

-- name: remove_lanes
-- Removes lanes that were retired and not seen since. The last lane of all stays: the
-- next lane would get its id.
-- Inputs: retired before, begin of the walk, limit.  Output: none.
-- Locks: the writer's.
delete from {{lane}}
where id in (
  select id from {{lane}}
  where retired_at <> 0 and retired_at < ? and seen_at < ? and id < (select max(id) from {{lane}})
  order by id limit 0 + ?);

-- name: lane_ids
-- Lists all lanes.
-- Inputs: none.  Output: id.  Locks: none.
select id from {{lane}};
