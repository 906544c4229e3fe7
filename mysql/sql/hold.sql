-- Statements of what kept jobs waiting.

-- name: hold_look
-- Reads the last look and the clock.
-- Inputs: none.
-- Output: version, looked_at, due_at, since_at, last_id, all 0 if there was none, microseconds.
-- Locks: none.
select coalesce(max(version), 0), coalesce(max(looked_at), 0), coalesce(max(due_at), 0), coalesce(max(since_at), 0),
       coalesce(max(last_id), 0), {{now}}
from {{hold_look}} where id = 1;

-- name: begin_hold_looks
-- Stores the first look, unless there was one.
-- Inputs: version, looked_at, due_at, last_id.
-- Output: none; no row is hit if there was: an update of the same values would hit one.
-- Locks: the inserted row.
insert ignore into {{hold_look}} (id, version, looked_at, due_at, since_at, last_id) values (1, ?1, ?2, ?3, ?2, ?4);

-- name: keep_hold_look
-- Stores a look, unless another was stored since the one before.
-- Inputs: version, looked_at, due_at, last_id, version of the one before.
-- Output: none; no row is hit if there was another.
-- Locks: the row.
update {{hold_look}} set version = ?, looked_at = ?, due_at = ?, last_id = greatest(last_id, ?) where id = 1 and version = ?;

-- name: begin_holds
-- Stores holds.
-- Inputs: rows of the columns.
-- Output: none.
-- Locks: the inserted rows.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
values {{rows}}(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?){{end}}
on duplicate key update id = values(id);

-- name: end_holds
-- Ends those of holds that last.
-- Inputs: when, {{list}} of ids.
-- Output: none.
-- Locks: the rows; only who stored a look writes them.
update {{hold}} force index (primary) set until_at = ? where id in ({{list}}) and until_at = {{hold_open}};

-- name: open_holds
-- Lists the holds that last, in order of id.
-- Inputs: limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}} force index (until_at) where until_at = {{hold_open}} order by id limit ?;

-- name: holds
-- Lists the holds of some time that concern a queue, a tenant, a kind and a gate, or any,
-- newest first.
-- Inputs: smaller ids than, from, to, queue, tenant, parent of the tenant, kind, gate, of
--   which an empty one stands for any, limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}}
where id < ?1 and until_at > ?2 and from_at < ?3
  and (?4 = '' or queue in ('', ?4)) and (?5 = '' or tenant in ('', ?5, ?6))
  and (?7 = '' or kind in ('', ?7)) and (?8 = '' or gate in ('', ?8))
order by id desc limit ?9;

-- name: last_kept_hold
-- Finds when the newest hold ended of those that are too many.
-- Inputs: how many are kept.
-- Output: until_at; no row if there are not so many.
-- Locks: none.
select until_at from {{hold}} force index (until_at) order by until_at desc limit 1 offset ?;

-- name: forget_before
-- Notes that what was before a time is not known.
-- Inputs: time.
-- Output: none.
-- Locks: the row.
update {{hold_look}} set since_at = ?1 where id = 1 and since_at < ?1;

-- name: prune_holds
-- Removes the oldest holds that ended up to a time.
-- Inputs: time, limit.
-- Output: none.
-- Locks: the deleted rows; only the witness and what is locked here ends or removes holds.
delete from {{hold}} where until_at <= ? order by until_at limit ?;

-- name: ready_lanes
-- Lists lanes that have ready jobs, in order, in about one index look-up per lane.
-- Inputs: lane to begin behind, limit.
-- Output: lane.
-- Locks: none.
select distinct lane from {{ready}} force index for group by (primary) where lane > ? order by lane limit ?;

-- name: busy_gates_after
-- Lists gates at which jobs are parked, in order, in about one index look-up per gate, with
-- the first of these.
-- Inputs: gate to begin behind, limit.
-- Output: gate, lane, policy, places taken.
-- Locks: none.
select g.gate, j.lane, j.policy, (select count(*) from {{admitted}} a force index (primary) where a.gate = g.gate)
from (select distinct gate from {{parked}} force index for group by (primary) where gate > ? order by gate limit ?) g
straight_join {{job}} j force index (primary) on j.id = (
  select p.id from {{parked}} p force index (primary) where p.gate = g.gate order by p.turn, p.start_by, p.id limit 1)
order by g.gate;

-- name: limits_now
-- Reads how some limits stand.
-- Inputs: {{list}} of ids.
-- Output: id, jobs that count, tokens, how many microseconds ago these were refilled.
-- Locks: none.
select q.id, q.used - coalesce((select sum(d.n) from {{quota_delta}} d force index (quota) where d.quota = q.id), 0), q.tokens, {{now}} - q.refilled_at
from {{quota}} q force index (primary) where q.id in ({{list}});

-- name: in_use
-- Nothing: limits_now counts the jobs.
