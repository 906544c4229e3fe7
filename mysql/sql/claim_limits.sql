-- Statements by which jobs count against limits: claims take slots, and a transaction
-- that moves a job out of running or waiting gives its slots back. Those that give back
-- also run in the caller's transaction, at any isolation level and with any session
-- settings.

-- name: limit_use
-- Reads what limits leave, as a hint which of them are worth locking.
-- Inputs: {{ids}}.
-- Output: id, jobs that count, tokens, refilled_at, now.
-- Locks: none.
select q.id, q.used - coalesce((select sum(d.n) from {{quota_delta}} d force index (quota) where d.quota = q.id), 0), q.tokens, q.refilled_at, {{now}}
from {{quota}} q force index (primary)
where q.id in ({{ids}});

-- name: lock_limits
-- Locks limits and reads them. The clock is read after each lock.
-- Inputs: {{ids}}, {{wait}}: skip locked, or empty to wait.
-- Output: id, used, tokens, refilled_at, now.
-- Locks: rows of quota, in order of id.
select id, used, tokens, refilled_at, {{now}}
from {{quota}} force index (primary)
where id in ({{ids}})
order by id
for update {{wait}};

-- name: deltas_of
-- Lists the slots that were given back and are still counted in quota.used. The limits
-- are locked, so no other transaction removes rows of the list.
-- Inputs: {{ids}} of limits.
-- Output: id, quota, n.
-- Locks: none.
select id, quota, n from {{quota_delta}} force index (quota) where quota in ({{ids}});

-- name: forget_deltas
-- Removes slots given back that quota.used no longer counts.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of quota_delta.
delete d from {{quota_delta}} d force index (primary) where {{among}} and quota >= 0;

-- name: keep_limits
-- Writes the use of locked limits.
-- Inputs: {{rows}} of id, used, tokens, refilled_at as JSON.
-- Output: none.
-- Locks: rows of quota.
update json_table(_utf8mb4'[{{rows}}]', '$[*]' columns (
  id int path '$[0]', used int path '$[1]', tokens double path '$[2]', refilled_at bigint path '$[3]')) v
straight_join {{quota}} q force index (primary) on q.id = v.id
set q.used = v.used, q.tokens = v.tokens, q.refilled_at = v.refilled_at;

-- name: add_deltas
-- Gives slots back. It never waits.
-- Inputs: {{rows}} of quota, n.
-- Output: none.
-- Locks: inserted rows.
insert into {{quota_delta}} (quota, n) values {{rows}};

-- name: held_by
-- Counts the slots that running jobs of one fence hold, whose rows are locked.
-- Inputs: {{fence_no}}, {{among}}.
-- Output: held, jobs.
-- Locks: none.
select held, count(*)
from {{running}} force index (primary)
where {{among}} and fence = {{fence_no}} and held > 0
group by held;

-- name: sets_named
-- Looks up sets of limits by their members.
-- Inputs: {{rows}} of members.
-- Output: id, members.
-- Locks: none.
select id, members from {{holdset}} where members in ({{rows}});

-- name: set_numbered
-- Reads the members of a set of limits.
-- Inputs: id.
-- Output: id, members.
-- Locks: none.
select id, members from {{holdset}} where id = ?;

-- name: add_sets
-- Creates sets of limits unless they exist.
-- Inputs: {{rows}} of members.
-- Output: none.
-- Locks: inserted rows, until the statement ends.
insert ignore into {{holdset}} (members) values {{rows}};
