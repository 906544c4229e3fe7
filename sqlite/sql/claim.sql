-- Statements of Claim. They run in one transaction that has the write lock: nothing is
-- claimed twice, and every pause committed before is seen.
--
-- SQLite plans a statement again for every value of an argument that may change the
-- plan. So limits are written as sums here and elsewhere, and the text itself contains
-- whether jobs are suspects, for which there is an index.

-- name: claim_check
-- Reports whether a node may claim.
-- Inputs: node, token, now.  Output: a row if it may.  Locks: none.
select 1 from {{node}} where id = ? and token = ? and dead = 0 and lease_until > ?;

-- name: changed_lanes
-- Finds lanes whose names differ from those that the caller knows: another process has
-- retired them, or the file was restored.
-- Inputs: id, queue, tenant and kind of lanes as a JSON array of arrays.
-- Output: ids.  Locks: none.
select v.value ->> 0 from json_each(?) v
left join {{lane}} l on l.id = v.value ->> 0 and l.queue = v.value ->> 1 and l.tenant = v.value ->> 2 and l.kind = v.value ->> 3
where l.id is null;

-- name: lane_heads
-- Finds the first ready job of every lane that has one, without suspects, and without
-- reading the rest.
-- Inputs: none.  Output: lane, turn, start_by, id.  Locks: none.
with recursive busy (lane) as (
  select min(lane) from {{ready}}
  union all
  select (select min(r.lane) from {{ready}} r where r.lane > busy.lane) from busy where busy.lane is not null
)
select b.lane, r.turn, r.start_by, r.id
from busy b
cross join {{ready}} r on r.lane = b.lane and r.solo = 0 and (r.turn, r.start_by, r.id) = (
  select h.turn, h.start_by, h.id from {{ready}} h
  where h.lane = b.lane and h.solo = 0 order by h.turn, h.start_by, h.id limit 1);

-- name: suspect_lanes
-- Lists all ready crash suspects.
-- Inputs: none.  Output: lane, turn, start_by, id, in order.  Locks: none.
select lane, turn, start_by, id from {{ready}} where solo = 1 order by turn, start_by, id;

-- name: lane_keys
-- Lists the ready jobs of a lane from a key on, without suspects.
-- Inputs: lane, turn, start_by and id of the key, limit.
-- Output: turn, start_by, id, in order.  Locks: none.
select turn, start_by, id
from {{ready}}
where lane = ? and solo = 0 and (turn, start_by, id) >= (?, ?, ?)
order by turn, start_by, id
limit 0 + ?;

-- name: claim_lane
-- Reads the first ready jobs of a lane, without suspects.
-- Inputs: lane, limit.
-- Output: lane, then the state and the columns of the jobs, in order.
-- Locks: none.
select r.lane, r.attempt, r.failures, r.crashes,
       j.id, j.turn, j.start_by, j.not_before, j.created_at, coalesce(j.job_key, ''), j.flags, j.policy, coalesce(j.trace, ''), j.args, m.memo, m.progress
from {{ready}} r
join {{job}} j on j.id = r.id
left join {{memo}} m on m.id = r.id
where r.lane = ? and r.solo = 0
order by r.turn, r.start_by, r.id
limit 0 + ?;

-- name: claim_started
-- Reads jobs that the claim has just started.
-- Inputs: ids as a JSON array.
-- Output: as claim_lane, in any order.  Locks: none.
select u.lane, u.attempt - 1, u.failures, u.crashes,
       j.id, j.turn, j.start_by, j.not_before, j.created_at, coalesce(j.job_key, ''), j.flags, j.policy, coalesce(j.trace, ''), j.args, m.memo, m.progress
from json_each(?) v
cross join {{running}} u on u.id = v.value
cross join {{job}} j on j.id = v.value
left join {{memo}} m on m.id = v.value;

-- name: to_running_range
-- Leases the ready jobs of a lane up to a key, without suspects.
-- Inputs: fence, node, now, lane, turn, start_by and id of the key.
-- Output: none.  Locks: the writer's.
insert into {{running}} (id, fence, node, lane, attempt, failures, crashes, started_at)
select id, ?, ?, lane, attempt + 1, failures, crashes, ?
from {{ready}}
where lane = ? and solo = 0 and (turn, start_by, id) <= (?, ?, ?);

-- name: leave_ready_range
-- Removes the ready jobs of a lane up to a key from ready, without suspects.
-- Inputs: lane, turn, start_by and id of the key.  Output: none.
-- Locks: the writer's.
delete from {{ready}}
where lane = ? and solo = 0 and (turn, start_by, id) <= (?, ?, ?);

-- name: claim_chosen
-- Leases ready jobs, wherever they are, without suspects.
-- Inputs: fence, node, now, ids as a JSON array.  Output: none.
-- Locks: the writer's.
insert into {{running}} (id, fence, node, lane, attempt, failures, crashes, started_at)
select r.id, ?, ?, r.lane, r.attempt + 1, r.failures, r.crashes, ?
from json_each(?) v
cross join {{job}} j on j.id = v.value
cross join {{ready}} r on r.lane = j.lane and r.solo = 0 and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id;

-- name: leave_ready_chosen
-- Removes jobs from ready, wherever they are, without suspects.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{ready}}
where (lane, solo, turn, start_by, id) in (
  select j.lane, 0, j.turn, j.start_by, j.id from json_each(?) v cross join {{job}} j on j.id = v.value);

-- name: claim_suspect
-- Leases one suspect.
-- Inputs: fence, node, now, lane, turn, start_by, id.  Output: none.
-- Locks: the writer's.
insert into {{running}} (id, fence, node, lane, attempt, failures, crashes, started_at)
select id, ?, ?, lane, attempt + 1, failures, crashes, ?
from {{ready}}
where lane = ? and solo = 1 and turn = ? and start_by = ? and id = ?;
