-- Statements of what kept jobs waiting.

-- name: hold_look
-- Reads the last look and the clock.
-- Output: version, looked_at, due_at, since_at, last_id, all 0 if there was none, microseconds.
-- Locks: none.
select coalesce(max(version), 0), coalesce(max(looked_at), 0), coalesce(max(due_at), 0), coalesce(max(since_at), 0),
       coalesce(max(last_id), 0), (select {{now}})
from {{hold_look}} where id = 1;

-- name: begin_hold_looks
-- Stores the first look, unless there was one.
-- Inputs: $1 version, $2 looked_at, $3 due_at, $4 last_id.
-- Output: none; no row is hit if there was.
-- Locks: the inserted row.
insert into {{hold_look}} (id, version, looked_at, due_at, since_at, last_id)
values (1, $1::bigint, $2::bigint, $3::bigint, $2::bigint, $4::bigint) on conflict do nothing;

-- name: keep_hold_look
-- Stores a look, unless another was stored since the one before.
-- Inputs: $1 version, $2 looked_at, $3 due_at, $4 last_id, $5 version of the one before.
-- Output: none; no row is hit if there was another.
-- Locks: the row.
update {{hold_look}} set version = $1::bigint, looked_at = $2::bigint, due_at = $3::bigint, last_id = greatest(last_id, $4::bigint)
where id = 1 and version = $5::bigint;

-- name: begin_holds
-- Stores holds.
-- Inputs: in step the columns.
-- Locks: the inserted rows.
insert into {{hold}} (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
select u.id, u.code, u.scope, u.queue, u.tenant, u.kind, u.gate, u.from_at, u.until_at, u.used::int, u.cap::int
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
  as u (id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap)
on conflict do nothing;

-- name: end_holds
-- Ends those of holds that last.
-- Inputs: $1 when, $2 ids.
-- Locks: the rows; only who stored a look writes them.
update {{hold}} set until_at = $1::bigint where id = any ($2::bigint[]) and until_at = {{hold_open}};

-- name: open_holds
-- Lists the holds that last, in order of id.
-- Inputs: $1 limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}} where until_at = {{hold_open}} order by id limit $1::int;

-- name: holds
-- Lists the holds of some time that concern a queue, a tenant, a kind and a gate, or any,
-- newest first.
-- Inputs: $1 smaller ids than, $2 from, $3 to, $4 queue, $5 tenant, $6 parent of the tenant,
--   $7 kind, $8 gate, of which an empty one stands for any, $9 limit.
-- Output: the columns.
-- Locks: none.
select id, code, scope, queue, tenant, kind, gate, from_at, until_at, used, cap
from {{hold}}
where id < $1::bigint and until_at > $2::bigint and from_at < $3::bigint
  and ($4::text = '' or queue in ('', $4::text)) and ($5::text = '' or tenant in ('', $5::text, $6::text))
  and ($7::text = '' or kind in ('', $7::text)) and ($8::text = '' or gate in ('', $8::text))
order by id desc limit $9::int;

-- name: last_kept_hold
-- Finds when the newest hold ended of those that are too many.
-- Inputs: $1 how many are kept.
-- Output: until_at; no row if there are not so many.
-- Locks: none.
select until_at from {{hold}} order by until_at desc limit 1 offset $1::int;

-- name: forget_before
-- Notes that what was before a time is not known.
-- Inputs: $1 time.
-- Locks: the row.
update {{hold_look}} set since_at = $1::bigint where id = 1 and since_at < $1::bigint;

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
