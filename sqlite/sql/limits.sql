-- Statements about tenants and limits.

-- name: put_tenant
-- Stores the declaration of a tenant.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{tenant}} (name, parent, max_pending, weight, labels, start_url, fail_url, timeout_url, version, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (name) do update set
  parent = excluded.parent, max_pending = excluded.max_pending, weight = excluded.weight, labels = excluded.labels,
  start_url = excluded.start_url, fail_url = excluded.fail_url, timeout_url = excluded.timeout_url,
  version = excluded.version, updated_at = excluded.updated_at;

-- name: put_limit
-- Sets a limit. A changed rate starts with a full burst.
-- Inputs: scope, name, cap, least, rate, burst, per_key, now, start_order.  Output: none.
-- Locks: the writer's.
insert into {{quota}} (scope, name, cap, least, rate, burst, per_key, tokens, refilled_at, start_order) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6, ?8, ?9)
on conflict (scope, name) do update set
  cap = excluded.cap, least = excluded.least, rate = excluded.rate, burst = excluded.burst, per_key = excluded.per_key, start_order = excluded.start_order,
  tokens = case when rate = excluded.rate and burst = excluded.burst then tokens else excluded.burst end,
  refilled_at = case when rate = excluded.rate and burst = excluded.burst then refilled_at else excluded.refilled_at end;

-- name: limit_rows
-- Lists the limits that are set.
-- Inputs: none.
-- Output: id, scope, name, cap, least, rate, burst, per_key, start_order, tokens,
--   refilled_at.
-- Locks: none.
select id, scope, name, cap, least, rate, burst, per_key, start_order, tokens, refilled_at
from {{quota}}
where cap > 0 or least > 0 or rate > 0 or per_key > 0 or start_order <> '';

-- name: saved_starts
-- Reads how many starts are saved by limits with a rate.
-- Inputs: none.  Output: id, tokens, refilled_at.  Locks: none.
select id, tokens, refilled_at from {{quota}} where rate > 0;

-- name: set_tokens
-- Writes how many starts are saved.
-- Inputs: tokens, now, id.  Output: none.  Locks: the writer's.
update {{quota}} set tokens = ?, refilled_at = ? where id = ?;

-- name: ahead
-- Counts the ready jobs of a lane before a key, without suspects.
-- Inputs: lane, turn, start_by and id of the key, limit.
-- Output: their number.  Locks: none.
select count(*) from (
  select 1 from {{ready}} where lane = ? and solo = 0 and (turn, start_by, id) < (?, ?, ?) limit 0 + ?);

-- name: bound
-- Reads how many jobs of a tenant may be pending, and how many are.
-- Inputs: tenant.
-- Output: both; no row if it may have any number.  Locks: none.
select t.max_pending,
       (select count(*) from {{lane}} l cross join {{ready}} r on r.lane = l.id where l.tenant = t.name) +
       (select count(*) from {{lane}} l cross join {{parked}} p on p.lane = l.id where l.tenant = t.name) +
       (select count(*) from {{lane}} l cross join {{later}} w on w.lane = l.id where l.tenant = t.name)
from {{tenant}} t
where t.name = ? and t.max_pending > 0;
