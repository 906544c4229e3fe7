-- Statements of what kept jobs waiting.

-- name: begin_holds
-- Stores holds.
-- Inputs: in step the columns.
-- Locks: the inserted rows.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
select u.id, u.code, u.scope, u.queue, u.tenant, u.kind, u.gate, u.from_at, u.until_at, u.used::int, u.cap::int
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
  as u (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
on conflict do nothing;

-- name: prune_holds
-- Removes the oldest holds that ended up to a time.
-- Inputs: $1 time, $2 limit.
-- Locks: the deleted rows; passes over rows locked by others.
delete from {{hold}} where id = any (array(
    select id from {{hold}} where until_at <= $1::bigint order by until_at limit $2::int for update skip locked));

-- name: ready_lanes
-- Lists lanes that have ready jobs, from the last to the first, by one look-up for each. It
-- looks from the end of a lane, where a job that waits is found at once: those that left the
-- lane were at its beginning, and their index entries stay for a while.
-- Inputs: $1 lane to begin behind, 0 to begin, $2 limit.
-- Output: lane.
-- Locks: none.
with recursive walk (lane) as (
    (select lane from {{ready}} where lane < coalesce(nullif($1::int, 0), 2147483647) order by lane desc limit 1)
    union all
    select (select r.lane from {{ready}} r where r.lane < walk.lane order by r.lane desc limit 1) from walk where walk.lane is not null
)
select lane from walk where lane is not null limit $2::int;

-- name: busy_gates_after
-- Lists gates at which jobs are parked, in order, by one look-up for each, with the first of
-- these. The limits keep it from reading all jobs to join them.
-- Inputs: $1 gate to begin behind, $2 limit.
-- Output: gate, lane, policy, places taken.
-- Locks: none.
with recursive walk (gate) as (
    (select gate from {{parked}} where gate > $1::bigint order by gate limit 1)
    union all
    select (select p.gate from {{parked}} p where p.gate > walk.gate order by p.gate limit 1) from walk where walk.gate is not null
)
select w.gate, j.lane, j.policy, (select count(*) from {{admitted}} a where a.gate = w.gate)
from (select gate from walk where gate is not null limit $2::int) w
cross join lateral (select p.id from {{parked}} p where p.gate = w.gate order by p.turn, p.start_by, p.id limit 1) p
cross join lateral (select lane, policy from {{job}} where id = p.id limit 1) j
order by w.gate;

-- name: limits_now
-- Reads how some limits stand.
-- Inputs: $1 ids.
-- Output: id, jobs that count, tokens, how many microseconds ago these were refilled.
-- Locks: none.
select id, used - coalesce((select sum(n) from {{quota_delta}} where quota = q.id), 0)::int, tokens, (select {{now}}) - refilled_at
from {{quota}} q where id = any ($1::int[]);

-- name: in_use
-- Nothing: limits_now counts the jobs.
