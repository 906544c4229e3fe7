-- Statements of what kept jobs waiting.

-- name: begin_holds
-- Stores a hold. It runs for each.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) on conflict do nothing;

-- name: prune_holds
-- Removes the oldest holds that ended up to a time.
-- Inputs: time, limit.  Output: none.  Locks: the writer's.
delete from {{hold}} where id in (select id from {{hold}} where until_at <= ? order by until_at limit 0 + ?);

-- name: ready_lanes
-- Lists lanes that have ready jobs, by one look-up for each.
-- Inputs: lane to begin behind, limit.  Output: lane, in order.  Locks: none.
with recursive walk (lane) as (
  select min(lane) from {{ready}} where lane > ?1
  union all
  select (select min(r.lane) from {{ready}} r where r.lane > walk.lane) from walk where walk.lane is not null
)
select lane from walk where lane is not null limit 0 + ?2;

-- name: busy_gates_after
-- Lists gates at which jobs are parked, by one look-up for each, with the first of these.
-- Inputs: gate to begin behind, limit.
-- Output: gate, lane, policy, places taken; in order.  Locks: none.
with recursive walk (gate) as (
  select min(gate) from {{parked}} where gate > ?1
  union all
  select (select min(p.gate) from {{parked}} p where p.gate > walk.gate) from walk where walk.gate is not null
)
select walk.gate, j.lane, j.policy, (select count(*) from {{admitted}} a where a.gate = walk.gate)
from walk
cross join {{job}} j on j.id = (select p.id from {{parked}} p where p.gate = walk.gate order by p.turn, p.start_by, p.id limit 1)
where walk.gate is not null limit 0 + ?2;

-- name: limits_now
-- Reads how some limits stand, but for the jobs that count: see in_use.
-- Inputs: ids.  Output: id, 0, tokens, how many microseconds ago these were refilled.
-- Locks: none.
select id, 0, tokens, {{now}} - refilled_at from {{quota}} where id in (select value from json_each(?1));

-- name: in_use
-- Counts the jobs of each lane that count against limits.
-- Inputs: none.  Output: lane, jobs.  Locks: none.
select lane, count(*)
from (select lane from {{running}} union all select lane from {{waiting}})
group by lane;
