-- Statements of what kept jobs waiting.

-- name: hold_look
-- Reads the last look and the clock.
-- Inputs: none.  Output: version, looked_at, due_at, since_at, last_id, all 0 if there was
-- none, microseconds.  Locks: none.
select coalesce(max(version), 0), coalesce(max(looked_at), 0), coalesce(max(due_at), 0), coalesce(max(since_at), 0),
       coalesce(max(last_id), 0), {{now}}
from {{hold_look}} where id = 1;

-- name: begin_hold_looks
-- Stores the first look, unless there was one.
-- Inputs: version, looked_at, due_at, last_id.  Output: none; no row is hit if there was.
-- Locks: the writer's.
insert into {{hold_look}} (id, version, looked_at, due_at, since_at, last_id) values (1, ?1, ?2, ?3, ?2, ?4) on conflict do nothing;

-- name: keep_hold_look
-- Stores a look, unless another was stored since the one before.
-- Inputs: version, looked_at, due_at, last_id, version of the one before.
-- Output: none; no row is hit if there was another.  Locks: the writer's.
update {{hold_look}} set version = ?1, looked_at = ?2, due_at = ?3, last_id = max(last_id, ?4) where id = 1 and version = ?5;

-- name: begin_holds
-- Stores a hold. It runs for each.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) on conflict do nothing;

-- name: end_holds
-- Ends those of holds that last.
-- Inputs: when, ids.  Output: none.  Locks: the writer's.
update {{hold}} set until_at = ? where id in (select value from json_each(?)) and until_at = {{hold_open}};

-- name: open_holds
-- Lists the holds that last.
-- Inputs: limit.  Output: the columns, in order of id.  Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}} where until_at = {{hold_open}} order by id limit 0 + ?;

-- name: holds
-- Lists the holds of some time that concern a queue, a tenant, a kind and a gate, or any.
-- Inputs: smaller ids than, from, to, queue, tenant, parent of the tenant, kind, gate; an
-- empty name stands for any; limit.
-- Output: the columns, newest first.  Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}}
where id < ?1 and until_at > ?2 and from_at < ?3
  and (?4 = '' or queue in ('', ?4)) and (?5 = '' or tenant in ('', ?5, ?6))
  and (?7 = '' or kind in ('', ?7)) and (?8 = '' or gate in ('', ?8))
order by id desc limit 0 + ?9;

-- name: last_kept_hold
-- Finds when the newest hold ended of those that are too many.
-- Inputs: how many are kept.  Output: until_at; no row if there are not so many.  Locks: none.
select until_at from {{hold}} order by until_at desc limit 1 offset 0 + ?;

-- name: forget_before
-- Notes that what was before a time is not known.
-- Inputs: time.  Output: none.  Locks: the writer's.
update {{hold_look}} set since_at = ?1 where id = 1 and since_at < ?1;

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
