-- Statements of what kept jobs waiting.

-- name: begin_holds
-- Stores holds.
-- Inputs: rows of the columns.
-- Output: none.
-- Locks: the inserted rows.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
values {{rows}}(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?){{end}}
on duplicate key update id = values(id);

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
