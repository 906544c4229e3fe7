-- name: exclude_claims
-- Waits for the claims in flight and keeps new ones waiting, so that they see what this
-- transaction changes.
-- Inputs: $1 key of the limits' lock.
-- Output: one row, ignored.
-- Locks: the limits.
select pg_advisory_xact_lock($1::bigint);

-- name: change_limits
-- Counts a change of the limits.
-- Inputs: $1 by how much; it is random, see sqlstore.VersionStep.
-- Output: the new version.
-- Locks: the row of the version.
update {{rules}} set version = version + $1::bigint where id = 1 returning version;

-- name: limits_version
-- Reads the version of the current limits.
-- Output: their version.
-- Locks: none.
select version from {{rules}} where id = 1;

-- name: pause
-- Pauses a queue, a kind or a tenant. Without a reason, an earlier one remains.
-- Inputs: $1 scope, $2 name, $3 reason.
-- Locks: the row.
insert into {{pause}} (scope, name, reason) values ($1::text, $2::text, $3::text)
on conflict (scope, name) do update set reason = excluded.reason where excluded.reason <> '';

-- name: limit_rows
-- Lists the limits that are set.
-- Output: id, scope, name, cap, minimum, rate, burst, places per key, order.
-- Locks: none.
select id, scope, name, cap, minimum, rate, burst, per_key, start_order from {{quota}}
where cap > 0 or minimum > 0 or rate > 0 or per_key > 0 or start_order <> '';

-- name: limit_active
-- Reports whether a limit is set.
-- Inputs: $1 scope, $2 name.
-- Output: one row if so.
-- Locks: none.
select 1 from {{quota}} where scope = $1::text and name = $2::text and (cap > 0 or minimum > 0 or rate > 0);

-- name: put_limit
-- Sets a limit, or removes it if all its values are empty. A changed rate starts with a
-- full burst.
-- Inputs: $1 scope, $2 name, $3 cap, $4 minimum, $5 rate, $6 burst, $7 places
--   per key, $8 order.
-- Locks: the row.
insert into {{quota}} as q (scope, name, cap, minimum, rate, burst, tokens, refilled_at, used, per_key, start_order)
select $1::text, $2::text, $3::int, $4::int, $5::float8, $6::int, $6::int, {{now}}, 0, $7::int, $8::text
where $3::int > 0 or $4::int > 0 or $5::float8 > 0 or $7::int > 0 or $8::text <> '' or exists (select from {{quota}} where scope = $1::text and name = $2::text)
on conflict (scope, name) do update set
    cap = excluded.cap, minimum = excluded.minimum, rate = excluded.rate, burst = excluded.burst, per_key = excluded.per_key, start_order = excluded.start_order,
    tokens = case when q.rate = excluded.rate and q.burst = excluded.burst then q.tokens else excluded.tokens end,
    refilled_at = case when q.rate = excluded.rate and q.burst = excluded.burst then q.refilled_at else excluded.refilled_at end;

-- name: limits
-- Lists the limits that are set, with their use.
-- Output: scope, name, cap, minimum, rate, burst, places per key, order, jobs that count,
--   tokens, and how many microseconds ago these were refilled.
-- Locks: none.
select scope, name, cap, minimum, rate, burst, per_key, start_order, used - coalesce((select sum(n) from {{quota_delta}} where quota = q.id), 0)::int, tokens, (select {{now}}) - refilled_at
from {{quota}} q
where cap > 0 or minimum > 0 or rate > 0 or per_key > 0 or start_order <> '';
