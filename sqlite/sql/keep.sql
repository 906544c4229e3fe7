-- Statements of the housekeeping: Promote, Reap, Expire, Prune.

-- name: due
-- Lists the scheduled jobs that are due, earliest first.
-- Inputs: now, limit.  Output: id, lane.  Locks: none.
select id, lane from {{later}} where not_before <= ? order by not_before, id limit 0 + ?;

-- name: next_due
-- Tells when the next scheduled job is due.
-- Inputs: none.  Output: time, null if there is none.  Locks: none.
select min(not_before) from {{later}};

-- name: promote
-- Makes scheduled jobs ready that have no gate, or have their place.
-- Inputs: crashes that make a suspect, ids as a JSON array.  Output: none.
-- Locks: the writer's.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select j.lane, l.crashes >= ?, j.turn, j.start_by, l.id, l.attempt, l.failures, l.crashes
from json_each(?) v
cross join {{later}} l on l.id = v.value
cross join {{job}} j on j.id = l.id
where j.gate is null or exists (select 1 from {{admitted}} a where a.gate = j.gate and a.id = j.id);

-- name: park
-- Parks scheduled jobs that have no place at their gate: those that promote
-- left out.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
select j.gate, j.turn, j.start_by, l.id, l.lane, l.attempt, l.failures, l.crashes
from json_each(?) v
cross join {{later}} l on l.id = v.value
cross join {{job}} j on j.id = l.id
where j.gate is not null and not exists (select 1 from {{admitted}} a where a.gate = j.gate and a.id = j.id);

-- name: leave_later_many
-- Takes many jobs out of later: the second half of promote and park.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{later}} where id in (select value from json_each(?));

-- name: mark_dead
-- Declares nodes dead whose lease has run out: the opposite of beat. A claim checks its
-- node in the writer's transaction that leases the jobs, so none commits after this.
-- Inputs: now.  Output: none; the rows hit are the newly dead.
-- Locks: the writer's.
update {{node}} set dead = 1 where dead = 0 and lease_until <= ?;

-- name: orphans
-- Lists running jobs whose node is dead or unknown, without those that this would end
-- as poison while the node's process may still say that it lives.
-- Inputs: the crash that makes a job poison, end of leases after which they may, limit.
-- Output: id.  Locks: none.
select id from {{running}}
where node not in (select id from {{node}} where dead = 0)
  and not (crashes + 1 >= ? and wish is null and node in (select id from {{node}} where lived = 0 and lease_until > ?))
order by id limit 0 + ?;

-- name: overdue
-- Lists waiting jobs whose deadline has passed, earliest first.
-- Inputs: now, limit.  Output: id, fence.  Locks: none.
select id, fence from {{waiting}} where deadline < ? order by deadline limit 0 + ?;

-- name: outdated
-- Lists finished jobs that ended before a time, earliest first, without those whose
-- end a schedule, a batch or a sweep has still to see.
-- Inputs: outcome, time, limit.  Output: id.  Locks: none.
select d.id from {{done}} d
where d.outcome = ? and d.finished_at < ? and not exists (select 1 from {{fire}} f where f.job = d.id and f.open = 1)
  and ({{counting_batch}}) is null and ({{running_sweep}}) is null
order by d.finished_at
limit 0 + ?;

-- name: counting_batch
-- A part of statements about a job d: the batch that has still to count how this
-- task of it ends. Ranges of ids are never shared: only the chunk that begins last,
-- at or before the id, can hold it. Its marks say of each task how it stands.
-- Output: batch, null if there is none.  Locks: none.
select case when d.id < p.first + p.size and substr(p.marks ->> '$.s', d.id - p.first + 1, 1) = 'o' then
         (select b.id from {{batch}} b where b.id = p.batch and b.open = 1) end
from {{part}} p
where p.out > 0 and p.first <= d.id
order by p.first desc
limit 1;

-- name: running_sweep
-- A part of statements about a job d: the sweep that runs and of which the job goes
-- over a shard that has not ended.
-- Output: sweep, null if there is none.  Locks: none.
select w.id
from {{shard}} s
cross join {{sweep}} w on w.id = s.sweep and w.state = 'running'
cross join {{shard_progress}} p on p.sweep = s.sweep and p.number = s.number and p.ended = 0
where s.job = d.id and s.job <> 0;

-- name: needed_by
-- Tells who has still to see how a job ends.
-- Inputs: id.  Output: batch, sweep; null if there is none.  Locks: none.
select ({{counting_batch}}), ({{running_sweep}}) from (select ? as id) d;

-- name: leave_done_many
-- Takes many jobs out of done.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{done}} where id in (select value from json_each(?));

-- name: prune_nodes
-- Removes nodes whose lease ended long ago, buried or not, and that hold
-- nothing.
-- Inputs: time before which their lease ended.  Output: none.  Locks: the writer's.
delete from {{node}}
where lease_until < ? and id not in (select node from {{running}});

-- name: prune_once
-- Removes the oldest requests that need not be remembered any more.
-- Inputs: time of the newest of them, limit.  Output: none.
-- Locks: the writer's.
delete from {{once}} where (caller, once_key) in (
  select caller, once_key from {{once}} where created_at <= ? order by created_at limit 0 + ?);

-- name: prune_audit
-- Removes the oldest entries of the audit log from before a time.
-- Inputs: time, limit.  Output: none.  Locks: the writer's.
delete from {{audit}} where id in (select id from {{audit}} where at < ? order by at limit 0 + ?);

-- name: prune_limits
-- Removes what is left of limits that were removed. Nothing refers to them: the jobs
-- under a limit are counted by their lanes.
-- Inputs: none.  Output: none.  Locks: the writer's.
delete from {{quota}} where cap = 0 and least = 0 and rate = 0 and per_key = 0 and start_order = '';
