-- Statements about tenants and limits, and of changes of the limits. A transaction that
-- changes them has locked the counter of their changes, so no claim is running.

-- name: change_limits
-- Opens a change of what is paused, of tenants or of limits: it waits for running
-- claims, and makes later ones wait for the change.
-- Inputs: by how much the version grows.
-- Output: none; the insert id that the server returns is the new version.
-- Locks: the counter of changes of limits.
update {{counter}} set value = last_insert_id(value + ?) where name = 'pause';

-- name: lock_limits_version
-- Does the same without a change.
-- Inputs: none.
-- Output: version of the limits.
-- Locks: the counter of changes of limits.
select value from {{counter}} where name = 'pause' for update;

-- name: pause
-- Pauses a queue, kind or tenant. Without a reason, an earlier one remains.
-- Inputs: scope, name, reason.
-- Output: none.
-- Locks: the row of pause.
insert into {{pause}} (scope, name, reason) values (?, ?, ?)
on duplicate key update reason = if(values(reason) = '', reason, values(reason));

-- name: put_tenant
-- Stores the declaration of a tenant.
-- Inputs: all columns.
-- Output: none.
-- Locks: the row of tenant.
replace into {{tenant}} (name, parent, max_pending, weight, labels, start_url, fail_url, timeout_url, version, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: limit_rows
-- Lists all limits, including removed ones, with their use.
-- Inputs: none.
-- Output: id, scope, name, cap, least, rate, burst, per_key, start_order, jobs that count,
--   slots given back that quota.used still counts, tokens, refilled_at, now.
-- Locks: none.
select q.id, q.scope, q.name, q.cap, q.least, q.rate, q.burst, q.per_key, q.start_order, q.used - coalesce(d.n, 0), coalesce(d.n, 0), q.tokens, q.refilled_at, {{now}}
from {{quota}} q
left join (select quota, sum(n) as n from {{quota_delta}} group by quota) d on d.quota = q.id
order by q.id;

-- name: add_limit
-- Adds a limit. Its id is the insert id that the server returns.
-- Inputs: scope, name, cap, least, rate, burst, per_key, start_order, tokens, refilled_at.
-- Output: none.
-- Locks: the inserted row.
insert into {{quota}} (scope, name, cap, least, rate, burst, per_key, start_order, tokens, refilled_at, used)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0);

-- name: store_limit
-- Changes a limit.
-- Inputs: cap, least, rate, burst, per_key, start_order, tokens, refilled_at, id.
-- Output: none.
-- Locks: the row of quota.
update {{quota}} set cap = ?, least = ?, rate = ?, burst = ?, per_key = ?, start_order = ?, tokens = ?, refilled_at = ? where id = ?;

-- name: lock_all_running
-- Locks all running jobs that no other transaction has locked.
-- Inputs: none.
-- Output: id, lane, held.
-- Locks: rows of running, in order of id; skips locked rows.
select id, lane, held from {{running}} force index (primary) order by id for update skip locked;

-- name: lock_all_waiting
-- Locks all waiting jobs that no other transaction has locked, after the running ones: a
--   job that moved in between is found here.
-- Inputs: none.
-- Output: id, lane, held.
-- Locks: rows of waiting, in order of id; skips locked rows.
select id, lane, held from {{waiting}} force index (primary) order by id for update skip locked;

-- name: hold_running
-- Makes running jobs, whose rows are locked, count against another set.
-- Inputs: {{set}}, {{among}}.
-- Output: none.
-- Locks: rows of running.
update {{running}} force index (primary) set held = {{set}} where {{among}} and lane >= 0;

-- name: hold_waiting
-- Makes waiting jobs, whose rows are locked, count against another set.
-- Inputs: {{set}}, {{among}}.
-- Output: none.
-- Locks: rows of waiting.
update {{waiting}} force index (primary) set held = {{set}} where {{among}} and lane >= 0;

-- name: holders
-- Counts the jobs that hold slots, and lists the slots given back. It is one statement with
-- one snapshot: a job that another transaction ends meanwhile is still seen to hold its
-- slots, or is seen to have given them back.
-- Inputs: none.
-- Output: 0, lane, held, number of jobs; or id of the row of quota_delta, quota, 0, n.
-- Locks: none.
select 0, lane, held, count(*) from {{running}} group by lane, held
union all
select 0, lane, held, count(*) from {{waiting}} group by lane, held
union all
select id, quota, 0, n from {{quota_delta}};

-- name: bounds
-- Lists the tenants whose number of pending jobs is bounded.
-- Inputs: none.
-- Output: name, how many.
-- Locks: none.
select name, max_pending from {{tenant}} where max_pending > 0;

-- name: removed_limits
-- Lists removed limits whose rows are left.
-- Inputs: none.
-- Output: id.
-- Locks: none.
select id from {{quota}} where cap = 0 and least = 0 and rate = 0 and per_key = 0 and start_order = '';

-- name: sets_in_use
-- Lists the sets of limits that jobs count against.
-- Inputs: none.
-- Output: id.
-- Locks: none.
select held from {{running}} where held > 0 union select held from {{waiting}} where held > 0;

-- name: all_sets
-- Lists all sets of limits.
-- Inputs: none.
-- Output: id, members.
-- Locks: none.
select id, members from {{holdset}};

-- name: prune_limits
-- Removes limits.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: the rows.
delete q from {{quota}} q force index (primary) where q.id in ({{ids}});

-- name: drop_deltas_of
-- Removes slots given back to limits.
-- Inputs: {{ids}} of limits.
-- Output: none.
-- Locks: the rows.
delete d from {{quota_delta}} d force index (quota) where d.quota in ({{ids}});

-- name: drop_sets
-- Removes sets of limits.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: the rows.
delete h from {{holdset}} h force index (primary) where h.id in ({{ids}});
