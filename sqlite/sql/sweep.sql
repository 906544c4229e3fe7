-- Statements about sweeps. Those that write run in one transaction that has the
-- write lock.

-- name: sweeps
-- Reads sweeps. The conditions are put behind it.
-- Inputs: none.  Output: the columns of sqlstore.ScanSweep.  Locks: none.
select id, name, tenant, state, version, created_at, body, status from {{sweep}};

-- name: lock_sweep
-- Reads a sweep. The transaction has the write lock already.
-- Inputs: id.  Output: as sweeps.  Locks: the writer's.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} where id = ?;

-- name: try_sweep
-- As lock_sweep.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} where id = ?;

-- name: sweep_sums
-- Sums up how far the shards of sweeps have come.
-- Inputs: ids as a JSON array.
-- Output: sweep, then the columns of sqlstore.ScanSums; no row if there are no shards.
-- Locks: none.
select p.sweep, sum(case when p.to_index > 0 then p.to_index - p.from_index else 0 end), sum(p.mark - p.behind - p.from_index),
       sum(p.done), sum(p.abandoned), sum(p.again), sum(p.errors), sum(max(0, p.done + p.abandoned - (p.mark - p.behind - p.from_index))),
       sum(case when p.ended then 0.0 else p.measured end)
from json_each(?) v
cross join {{shard_progress}} p on p.sweep = v.value
group by p.sweep;

-- name: shards
-- Reads the shards of a sweep.
-- Inputs: sweep.  Output: the columns of sqlstore.ScanShard, in order.  Locks: none.
select s.sweep, s.number, p.from_index, p.to_index, s.job, p.ended, p.mark, p.bits, p.pending, p.done, p.abandoned, p.again, p.errors, p.source,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, s.peak_rate, s.peak_slots,
       p.used_rate, p.used_slots, p.told, p.fence, p.saved_at, p.measured, p.behind
from {{shard}} s
cross join {{shard_progress}} p on p.sweep = s.sweep and p.number = s.number
where s.sweep = ?
order by s.number;

-- name: shards_and_states
-- Reads the shards of a sweep, with the states of their jobs.
-- Inputs: sweep.  Output: as shards, then the state, empty if there is no job.
-- Locks: none.
select s.sweep, s.number, p.from_index, p.to_index, s.job, p.ended, p.mark, p.bits, p.pending, p.done, p.abandoned, p.again, p.errors, p.source,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, s.peak_rate, s.peak_slots,
       p.used_rate, p.used_slots, p.told, p.fence, p.saved_at, p.measured, p.behind,
       case when j.id is null then '' when u.id is not null then 'running' when r.id is not null then 'ready' when l.id is not null then 'scheduled'
            when k.id is not null then 'parked' when w.id is not null then 'waiting'
            else case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end end
from {{shard}} s
cross join {{shard_progress}} p on p.sweep = s.sweep and p.number = s.number
left join {{job}} j on j.id = s.job
left join {{running}} u on u.id = j.id
left join {{ready}} r on r.lane = j.lane and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{later}} l on l.id = j.id
left join {{parked}} k on k.gate = j.gate and k.turn = j.turn and k.start_by = j.start_by and k.id = j.id
left join {{waiting}} w on w.id = j.id
left join {{done}} d on d.id = j.id
where s.sweep = ?
order by s.number;

-- name: add_shards
-- Stores what is steered of a new shard.
-- Inputs: sweep, number.  Output: none.  Locks: the writer's.
insert into {{shard}} (sweep, number) values (?, ?);

-- name: add_progress
-- Stores how far a new shard has come.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{shard_progress}} (sweep, number, from_index, to_index, mark, ended, done, abandoned, again, errors, bits, pending, source, behind)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: drop_shards
-- Removes what is steered of the shards of a sweep.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{shard}} where sweep = ?;

-- name: drop_progress
-- Removes how far the shards of a sweep have come.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{shard_progress}} where sweep = ?;

-- name: grant_shares
-- Stores the share of a shard, under the next number.
-- Inputs: sweep, number, rate, slots, fence, rate and slots of the peak.
-- Output: none.  Locks: the writer's.
update {{shard}}
set share_rate = ?3, share_slots = ?4, share_fence = ?5, peak_rate = ?6, peak_slots = ?7, share_number = share_number + 1
where sweep = ?1 and number = ?2;

-- name: employ
-- Gives a shard a job.
-- Inputs: sweep, number, job.  Output: none.  Locks: the writer's.
update {{shard}} set job = ?3 where sweep = ?1 and number = ?2;

-- name: orders
-- Reads what the run of a shard is to do, if its job runs under the fence.
-- Inputs: sweep, number, job, fence.
-- Output: the columns of sqlstore.ScanSweep, then share_rate, share_slots,
--   share_number, share_fence and the mark; no row if the lease was lost.
-- Locks: none.
select w.id, w.name, w.tenant, w.state, w.version, w.created_at, w.body, w.status,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, p.mark
from {{sweep}} w
cross join {{shard}} s on s.sweep = w.id
cross join {{shard_progress}} p on p.sweep = s.sweep and p.number = s.number
cross join {{running}} r on r.id = s.job
where w.id = ? and s.number = ? and r.id = ? and r.fence = ?;

-- name: checkpoint
-- Keeps how far the run of a shard has come.
-- Inputs: mark, bits, pending, source or null, done, abandoned, again, errors, measured,
--   used_rate, used_slots, ended, told, fence, now, behind, to_index or 0, sweep, number.
-- Output: none.  Locks: the writer's.
update {{shard_progress}}
set mark = ?, bits = ?, pending = ?, source = coalesce(?, source), done = ?, abandoned = ?, again = ?, errors = ?, measured = ?,
    used_rate = ?, used_slots = ?, ended = ?, told = ?, fence = ?, saved_at = ?, behind = ?,
    to_index = case to_index when 0 then ? else to_index end
where sweep = ? and number = ?;

-- name: budget_used
-- Counts how many items of a sweep were done and how many were abandoned, without those
-- that wait to be tried again.
-- Inputs: sweep.  Output: done, abandoned.  Locks: none.
select sum(done), sum(abandoned - again) from {{shard_progress}} where sweep = ?;

-- name: add_failed
-- Notes a failed item.
-- Inputs: the columns, without again.  Output: none.  Locks: the writer's.
insert into {{failed_item}} (sweep, idx, attempts, error, at) values (?, ?, ?, ?, ?)
on conflict (sweep, idx) do update set attempts = excluded.attempts, error = excluded.error, at = excluded.at, again = 0;

-- name: items_again
-- Lists items that wait to be tried again.
-- Inputs: as failed_items.  Output: as failed_items.  Locks: none.
select sweep, idx, attempts, error, at, again from {{failed_item}} indexed by {{failed_item_again}}
where sweep = ? and idx >= ? and idx < ? and again = 1
order by idx limit 0 + ?;

-- name: retry_failed
-- Lets failed items wait to be tried again.
-- Inputs: sweep, indexes as a JSON array.  Output: none.  Locks: the writer's.
update {{failed_item}} set again = 1 where sweep = ? and idx in (select value from json_each(?));

-- name: retry_all_failed
-- Lets all failed items of a sweep wait to be tried again.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
update {{failed_item}} set again = 1 where sweep = ?;

-- name: count_again
-- Counts what waits to be tried again between two indexes.
-- Inputs: sweep, the index to begin with, that to end before.  Output: the number.
-- Locks: none.
select count(*) from {{failed_item}} indexed by {{failed_item_again}} where sweep = ? and idx >= ? and idx < ? and again = 1;

-- name: leave_alone
-- Lets nothing of a shard wait to be tried again.
-- Inputs: sweep, number.  Output: none.  Locks: the writer's.
update {{failed_item}} set again = 0
where sweep = ?1 and again = 1
  and idx >= (select p.from_index from {{shard_progress}} p where p.sweep = ?1 and p.number = ?2)
  and idx < (select case p.to_index when 0 then 9223372036854775807 else p.to_index end from {{shard_progress}} p where p.sweep = ?1 and p.number = ?2);

-- name: forget_failed
-- Forgets failed items.
-- Inputs: sweep, indexes as a JSON array.  Output: none.  Locks: the writer's.
delete from {{failed_item}} where sweep = ? and idx in (select value from json_each(?));

-- name: drop_failed
-- Forgets all failed items of a sweep.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{failed_item}} where sweep = ?;

-- name: missing_sweeps
-- Finds sweeps that do not exist.
-- Inputs: ids as a JSON array.  Output: id of those.  Locks: none.
select v.value from json_each(?) v where not exists (select 1 from {{sweep}} w where w.id = v.value);

-- name: add_sweep_logs
-- Stores a line.
-- Inputs: sweep, idx, level, text.  Output: none.  Locks: the writer's.
insert into {{sweep_log}} (id, sweep, idx, level, text, at) values ({{new_sweep_log}}, ?1, ?2, ?3, ?4, {{now}});

-- name: level_logs
-- Lists lines of a level, newest first.
-- Inputs: sweep, level, the id below which to begin, limit.
-- Output: as sweep_logs.  Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}} where sweep = ? and level = ? and id < ? order by id desc limit 0 + ?;

-- name: drop_sweep_logs
-- Removes the lines of a sweep.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{sweep_log}} where sweep = ?;

-- name: old_sweep_logs
-- Finds old lines of sweeps that have finished. Whether a sweep has any is told by its
-- first.
-- Inputs: age in microseconds, limit.  Output: id.  Locks: none.
select l.id from {{sweep}} w
cross join {{sweep_log}} l on l.sweep = w.id
where w.state = 'finished' and (select f.at from {{sweep_log}} f where f.sweep = w.id order by f.id limit 1) < {{now}} - ?1 and l.at < {{now}} - ?1
limit 0 + ?2;

-- name: drop_logs
-- Removes lines.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{sweep_log}} where id in (select value from json_each(?));

-- name: drop_sweep_events
-- Removes the history of a sweep.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{sweep_event}} where sweep = ?;

-- name: old_sweep_events
-- Finds what happened long ago to sweeps that have finished.
-- Inputs: as old_sweep_logs.  Output: id.  Locks: none.
select e.id from {{sweep}} w
cross join {{sweep_event}} e on e.sweep = w.id
where w.state = 'finished' and (select f.at from {{sweep_event}} f where f.sweep = w.id order by f.id limit 1) < {{now}} - ?1 and e.at < {{now}} - ?1
limit 0 + ?2;

-- name: drop_events
-- Removes events.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{sweep_event}} where id in (select value from json_each(?));

-- name: drop_sweep_items
-- Removes the list of a sweep.
-- Inputs: sweep.  Output: none.  Locks: the writer's.
delete from {{sweep_item}} where sweep = ?;
