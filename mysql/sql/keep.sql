-- Statements of the housekeeping: Promote, Reap, Expire, Prune.

-- name: lock_due
-- Locks scheduled jobs that are due, earliest first.
-- Inputs: now, limit.
-- Output: id, lane, attempt, failures, crashes.
-- Locks: rows of later; skips what is locked.
select id, lane, attempt, failures, crashes
from {{later}} force index (due)
where not_before <= ?
order by not_before, id
limit ?
for update skip locked;

-- name: next_due
-- Tells when the next scheduled job is due.
-- Inputs: none.
-- Output: time, null if there is none.
-- Locks: none.
select min(not_before) from {{later}};

-- name: leave_later
-- Takes jobs out of later.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of later.
delete l from {{later}} l force index (primary) where {{among}} and lane >= 0;

-- name: expired_nodes
-- Lists nodes whose lease has run out and that are not marked dead.
-- Inputs: none.
-- Output: id.
-- Locks: none.
select id from {{node}} where dead = 0 and lease_until <= {{now}};

-- name: mark_dead
-- Declares a node dead whose lease has run out: the opposite of beat. It records the
-- fences of the jobs that the node holds, and commits by itself.
--
-- A claim reads its node without a lock, so it may commit after this statement. Its jobs
-- do not start: the fences were read after the lease had ended, so a claim that they lack
-- is answered after that. Reap recognizes its jobs by a fence that is not recorded here.
-- Inputs: fences with commas between, node.
-- Output: none; a row is found if the node is newly dead.
-- Locks: the node.
update {{node}} set dead = 1, held_fences = ? where id = ? and dead = 0 and lease_until <= {{now}};

-- name: orphans
-- Lists running jobs whose node is dead or unknown, without those that this would end
-- as poison while the node's process may still say that it lives. Jobs of late claims,
-- which committed after their node was marked dead, never end as poison.
-- Inputs: id after which to look, the crash that makes a job poison, microseconds after the
--   end of its lease in which a process may say so, limit.
-- Output: id, node.
-- Locks: none.
select r.id, r.node
from {{running}} r force index (primary)
left join {{node}} n on n.id = r.node
where r.id > ? and (n.id is null or n.dead = 1)
  and (r.crashes + 1 < ? or r.wish is not null or n.id is null or n.lived = 1 or n.lease_until <= {{now}} - ?
       or find_in_set(r.fence, n.held_fences) = 0)
order by r.id
limit ?;

-- name: overdue
-- Lists waiting jobs whose deadline has passed, earliest first.
-- Inputs: limit.
-- Output: id, fence.
-- Locks: none.
select id, fence from {{waiting}} force index (deadline) where deadline < {{now}} order by deadline limit ?;

-- name: lock_overdue
-- Locks waiting jobs, without waiting for who moves them just now.
-- Inputs: {{ids}}.
-- Output: id, fence, node, lane, attempt, failures, crashes, started_at, held, deadline,
--   retry_after.
-- Locks: rows of waiting, in order of id; skips what is locked.
select id, fence, node, lane, attempt, failures, crashes, started_at, held, deadline, retry_after
from {{waiting}} force index (primary)
where id in ({{ids}})
for update skip locked;

-- name: lock_outdated
-- Locks finished jobs that ended before a time, earliest first, without those whose end
-- a schedule or a sweep has still to see. Tasks that a batch has still to count are
-- among them: see out_parts.
-- Inputs: outcome, time; finished_at, the same and id of the last one before; limit.
-- Output: id, finished_at.
-- Locks: rows of done; skips what is locked.
select d.id, d.finished_at
from {{done}} d force index (age)
where d.outcome = ? and d.finished_at < ? and d.finished_at >= ? and (d.finished_at > ? or d.id > ?)
  and (select o.id from {{open_fire}} o force index (primary) where o.id = d.id) is null
  and ({{running_sweep}}) is null
order by d.finished_at, d.id
limit ?
for update skip locked;

-- name: out_chunks
-- Parts of open batches with tasks that are out, of which the first has an id of a
-- range.
-- Inputs: first id, last id.
-- Output: what ScanChunk in internal/sqlstore reads; tasks is null.
-- Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first_job, p.size, p.held, p.out_, p.marks, null
from {{part}} p force index (beginning)
straight_join {{batch}} b force index (primary) on b.id = p.batch
where p.any_out = 1 and p.first_job >= ? and p.first_job <= ? and b.open = 1;

-- name: running_sweep
-- A part of statements about a job d: the sweep that runs and of which the job goes
-- over a shard that has not ended.
-- Output: sweep, null if there is none.
-- Locks: none.
select s.sweep
from {{shard}} s force index (job)
where s.job = d.id and s.job <> 0
  and (select w.id from {{sweep}} w force index (primary) where w.id = s.sweep and w.state = 'running') is not null
  and (select g.ended from {{shard_progress}} g force index (primary) where g.sweep = s.sweep and g.number = s.number) = 0
limit 1;

-- name: lock_jobs
-- Locks jobs that no other transaction is about to change. A column besides the id
-- is read because the server may otherwise scan the index.
-- Inputs: {{ids}}.
-- Output: id, flags.
-- Locks: rows of job; skips what is locked.
select id, flags from {{job}} force index (primary) where id in ({{ids}}) for update skip locked;

-- name: drop_attempts
-- Removes the history of jobs.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: rows of attempt.
delete a
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{attempt}} a force index (primary) on a.id = v.id;

-- name: drop_memos
-- Removes what handlers kept.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: rows of memo.
delete m
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{memo}} m force index (primary) on m.id = v.id;

-- name: drop_jobs
-- Removes jobs.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: rows of job.
delete j from {{job}} j force index (primary) where {{among}} and lane >= 0;

-- name: old_nodes
-- Lists nodes that are long dead, whether or not another node has declared
-- them so: a lease that has run out is never granted again.
-- Inputs: age in microseconds.
-- Output: id.
-- Locks: none.
select id from {{node}} where lease_until < {{now}} - ?;

-- name: busy_nodes
-- Lists the nodes that jobs are leased to.
-- Inputs: none.
-- Output: node.
-- Locks: none.
select distinct node from {{running}};

-- name: prune_nodes
-- Removes nodes.
-- Inputs: {{ids}}.
-- Output: none.
-- Locks: the nodes.
delete n
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{node}} n force index (primary) on n.id = v.id;

-- name: prune_fences
-- Removes what nodes left behind in fence.
-- Inputs: {{ids}} of nodes.
-- Output: none.
-- Locks: rows of fence.
delete f
from json_table(_utf8mb4'[{{ids}}]', '$[*]' columns (id bigint path '$')) v
straight_join {{fence}} f force index (primary) on f.node = v.id;

-- name: lock_old_once
-- Locks the oldest requests that need not be remembered any more.
-- Inputs: time of the newest of them, limit.
-- Output: caller, key.
-- Locks: those rows; skips what is locked.
select caller, once_key from {{once}} force index (age) where created_at <= ? order by created_at limit ? for update skip locked;

-- name: prune_once
-- Forgets requests.
-- Inputs: {{rows}} of caller and key.
-- Output: none.
-- Locks: the rows, locked before.
delete o from {{once}} o force index (primary) where (caller, once_key) in ({{rows}}) and created_at >= 0;

-- name: lock_old_audit
-- Locks the oldest entries of the audit log from before a time.
-- Inputs: time, limit.
-- Output: id.
-- Locks: those rows; skips what is locked.
select id from {{audit}} force index (time) where at < ? order by at limit ? for update skip locked;

-- name: prune_audit
-- Removes entries of the audit log.
-- Inputs: {{among}}.
-- Output: none.
-- Locks: the rows, locked before.
delete a from {{audit}} a force index (primary) where {{among}} and at >= 0;
