-- Statements of sweeps. They run only in the store's own transactions, at READ
-- COMMITTED. First the sweep is locked, then what is steered of its shards.

-- name: lock_sweep
-- Keeps other transactions from steering a sweep.
-- Inputs: id.
-- Output: the columns as sweeps.
-- Locks: the row of sweep.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} force index (primary) where id = ? for update;

-- name: try_sweep
-- As lock_sweep, but it does not wait: there is no output if another has the lock.
select id, name, tenant, state, version, created_at, body, status from {{sweep}} force index (primary) where id = ? for update skip locked;

-- name: sweeps
-- Lists sweeps, newest first.
-- Inputs: {{id}} below which to look, {{named}}: further conditions or nothing,
--   {{limit}}.
-- Output: id, name, tenant, state, version, created_at, body, status.
-- Locks: none.
select id, name, tenant, state, version, created_at, body, status
from {{sweep}}
where id < {{id}} {{named}}
order by id desc
limit {{limit}};

-- name: sweep_sums
-- Sums up how far the shards of sweeps have come.
-- Inputs: {{list}} of sweeps.
-- Output: sweep, total, marked, done, abandoned, again, errors, in_window, measured; no
--   row if there are no shards.
-- Locks: none.
select sweep, cast(sum(case when to_index > 0 then to_index - from_index else 0 end) as signed), cast(sum(mark - behind - from_index) as signed),
       cast(sum(done) as signed), cast(sum(abandoned) as signed), cast(sum(again) as signed), cast(sum(errors) as signed),
       cast(sum(greatest(0, done + abandoned - (mark - behind - from_index))) as signed), sum(case when ended = 0 then measured else 0 end)
from {{shard_progress}} force index (primary)
where sweep in ({{list}})
group by sweep;

-- name: shards_and_states
-- Reads the shards of a sweep, with the states of their jobs, in one snapshot.
-- Inputs: sweep.
-- Output: as shards, then the state, empty if there is no job.
-- Locks: none.
select s.sweep, s.number, p.from_index, p.to_index, s.job, p.ended, p.mark, p.bits, p.pending, p.done, p.abandoned, p.again, p.errors, p.source,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, s.peak_rate, s.peak_slots,
       p.used_rate, p.used_slots, p.told, p.fence, p.saved_at, p.measured, p.behind,
       case when j.id is null then '' when u.id is not null then 'running' when r.id is not null or a.id is not null then 'ready' when l.id is not null then 'scheduled'
            when k.id is not null then 'parked' when w.id is not null then 'waiting'
            else case d.outcome when 1 then 'succeeded' when 2 then 'failed' when 3 then 'cancelled' else 'skipped' end end
from {{shard}} s force index (primary)
straight_join {{shard_progress}} p force index (primary) on p.sweep = s.sweep and p.number = s.number
left join {{job}} j force index (primary) on j.id = s.job
left join {{running}} u force index (primary) on u.id = j.id
left join {{ready}} r force index (primary) on r.lane = j.lane and r.solo = 0 and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{ready}} a force index (primary) on a.lane = j.lane and a.solo = 1 and a.turn = j.turn and a.start_by = j.start_by and a.id = j.id
left join {{later}} l force index (primary) on l.id = j.id
left join {{parked}} k force index (primary) on k.gate = j.gate and k.turn = j.turn and k.start_by = j.start_by and k.id = j.id
left join {{waiting}} w force index (primary) on w.id = j.id
left join {{done}} d force index (primary) on d.id = j.id
where s.sweep = ?
order by s.number;

-- name: shards
-- Reads the shards of a sweep.
-- Inputs: sweep.
-- Output: what ScanShard in internal/sqlstore reads, in order.
-- Locks: none.
select s.sweep, s.number, p.from_index, p.to_index, s.job, p.ended, p.mark, p.bits, p.pending, p.done, p.abandoned, p.again, p.errors, p.source,
       s.share_rate, s.share_slots, s.share_number, s.share_fence, s.peak_rate, s.peak_slots,
       p.used_rate, p.used_slots, p.told, p.fence, p.saved_at, p.measured, p.behind
from {{shard}} s force index (primary)
straight_join {{shard_progress}} p force index (primary) on p.sweep = s.sweep and p.number = s.number
where s.sweep = ?
order by s.number;

-- name: add_shards
-- Stores what is steered of new shards.
-- Inputs: {{rows}} of sweep, number.
-- Output: none.
-- Locks: inserted rows.
insert into {{shard}} (sweep, number) values {{rows}};

-- name: add_progress
-- Stores how far new shards have come.
-- Inputs: {{rows}} of the columns.
-- Output: none.
-- Locks: inserted rows.
insert into {{shard_progress}} (sweep, number, from_index, to_index, mark, ended, done, abandoned, again, errors, bits, pending, source, behind) values {{rows}};

-- name: drop_shards
-- Removes what is steered of the shards of a sweep.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete s from {{shard}} s force index (primary) where s.sweep = ? and s.job >= 0;

-- name: drop_progress
-- Removes how far the shards of a sweep have come.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete p from {{shard_progress}} p force index (primary) where p.sweep = ? and p.fence >= 0;

-- name: grant_shares
-- Stores shares of shards that exist, each under its next number.
-- Inputs: {{rows}} of sweep, number, share_rate, share_slots, share_fence, peak_rate,
--   peak_slots.
-- Output: none.
-- Locks: what is steered of the shards.
insert into {{shard}} (sweep, number, share_rate, share_slots, share_fence, peak_rate, peak_slots) values {{rows}}
on duplicate key update share_rate = values(share_rate), share_slots = values(share_slots), share_fence = values(share_fence),
  peak_rate = values(peak_rate), peak_slots = values(peak_slots), share_number = share_number + 1;

-- name: employ
-- Gives shards that exist their jobs.
-- Inputs: {{rows}} of sweep, number, job.
-- Output: none.
-- Locks: what is steered of the shards.
insert into {{shard}} (sweep, number, job) values {{rows}} on duplicate key update job = values(job);

-- name: orders
-- Reads what the run of a shard is to do.
-- Inputs: sweep, number, sweep, number, sweep, number, job.
-- Output: the columns as sweeps, share_rate, share_slots, share_number, share_fence, and
--   what the other shards have done and abandoned, without what waits to be tried again;
--   no row if the shard has another job.
-- Locks: none.
select w.id, w.name, w.tenant, w.state, w.version, w.created_at, w.body, w.status,
       s.share_rate, s.share_slots, s.share_number, s.share_fence,
       coalesce((select cast(sum(p.done) as signed) from {{shard_progress}} p force index (primary) where p.sweep = ? and p.number <> ?), 0),
       coalesce((select cast(sum(p.abandoned - p.again) as signed) from {{shard_progress}} p force index (primary) where p.sweep = ? and p.number <> ?), 0)
from {{shard}} s force index (primary)
straight_join {{sweep}} w force index (primary) on w.id = s.sweep
where s.sweep = ? and s.number = ? and s.job = ?;

-- name: checkpoint
-- Keeps how far the run of a shard has come, if its job runs under the fence, and
-- forgets the crashes of the job.
-- Inputs: sweep, number, mark, bits, pending, source or null, done, abandoned, again, errors,
--   measured, used_rate, used_slots, ended, told, fence, behind, to_index or 0, job, fence,
--   mark.
-- Output: none; no row is hit if the lease was lost or the mark is behind.
-- Locks: the row of running, what the run has stored.
update {{running}} r force index (primary)
straight_join {{shard_progress}} p force index (primary) on p.sweep = ? and p.number = ?
set r.crashes = 0, p.mark = ?, p.bits = ?, p.pending = ?, p.source = coalesce(?, p.source), p.done = ?, p.abandoned = ?, p.again = ?, p.errors = ?,
  p.measured = ?, p.used_rate = ?, p.used_slots = ?, p.ended = ?, p.told = ?, p.fence = ?, p.saved_at = {{now}}, p.behind = ?,
  p.to_index = case p.to_index when 0 then ? else p.to_index end
where r.id = ? and r.fence = ? and p.mark <= ?;

-- name: runs_under
-- Reports whether a job runs under a fence.
-- Inputs: id, fence.
-- Output: id, if it does.
-- Locks: none.
select id from {{running}} force index (primary) where id = ? and fence = ?;

-- name: add_failed
-- Notes failed items.
-- Inputs: {{rows}} of sweep, idx, attempts, error, at.
-- Output: none.
-- Locks: the rows.
insert into {{failed_item}} (sweep, idx, attempts, error, at) values {{rows}}
on duplicate key update attempts = values(attempts), error = values(error), at = values(at), again = 0;

-- name: items_again
-- Lists items that wait to be tried again.
-- Inputs: as failed_items.
-- Output: as failed_items.
-- Locks: none.
select sweep, idx, attempts, error, at, again from {{failed_item}} force index (again)
where sweep = ? and again = 1 and idx >= ? and idx < ?
order by idx limit ?;

-- name: retry_failed
-- Lets failed items wait to be tried again.
-- Inputs: sweep, {{list}}: their indexes.
-- Output: none.
-- Locks: the rows.
update {{failed_item}} f force index (primary) set f.again = 1 where f.sweep = ? and f.idx in ({{list}});

-- name: retry_all_failed
-- Lets all failed items of a sweep wait to be tried again.
-- Inputs: sweep.
-- Output: none.
-- Locks: the rows.
update {{failed_item}} f force index (primary) set f.again = 1 where f.sweep = ? and f.idx >= 0;

-- name: count_again
-- Counts what waits to be tried again in a part of a sweep.
-- Inputs: sweep, the index to begin with, that to end before.
-- Output: the number.
-- Locks: none.
select count(*) from {{failed_item}} force index (primary) where sweep = ? and idx >= ? and idx < ? and again = 1;

-- name: leave_alone
-- Lets nothing of a shard wait to be tried again.
-- Inputs: sweep, number.
-- Output: none.
-- Locks: what its run has stored, the items.
update {{shard_progress}} p force index (primary)
straight_join {{failed_item}} f force index (primary)
  on f.sweep = p.sweep and f.idx >= p.from_index and f.idx < case p.to_index when 0 then 9223372036854775807 else p.to_index end
set f.again = 0
where p.sweep = ? and p.number = ? and f.again = 1;

-- name: forget_failed
-- Forgets failed items.
-- Inputs: sweep, {{ids}}: their indexes.
-- Output: none.
-- Locks: the deleted rows.
delete f from {{failed_item}} f force index (primary) where f.sweep = ? and f.idx in ({{ids}}) and f.attempts >= 0;

-- name: drop_failed
-- Forgets all failed items of a sweep.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete f from {{failed_item}} f force index (primary) where f.sweep = ? and f.attempts >= 0;

-- name: missing_sweeps
-- Finds sweeps that do not exist.
-- Inputs: {{list}} of ids.
-- Output: id of those.
-- Locks: none.
select v.id
from json_table(_utf8mb4'[{{list}}]', '$[*]' columns (id bigint path '$')) v
left join {{sweep}} w force index (primary) on w.id = v.id
where w.id is null;

-- name: add_sweep_logs
-- Stores lines.
-- Inputs: {{rows}} of sweep, idx, level, text.
-- Output: none.
-- Locks: inserted rows.
insert into {{sweep_log}} (at, sweep, idx, level, text) values {{rows}}({{now}}, ?, ?, ?, ?){{end}};

-- name: level_logs
-- Lists lines of a level, newest first.
-- Inputs: sweep, level, the id below which to begin, limit.
-- Output: as sweep_logs.
-- Locks: none.
select id, sweep, idx, level, text, at from {{sweep_log}} force index (level)
where sweep = ?1 and level_key = left(cast(?2 as binary), 16) and level = ?2 and id < ?3
order by id desc limit ?4;

-- name: old_sweep_logs
-- Finds old lines of sweeps that have finished. Whether a sweep has any is told by its
-- first.
-- Inputs: age in microseconds, limit.
-- Output: id.
-- Locks: none.
select l.id
from {{sweep}} w force index (state)
straight_join {{sweep_log}} l force index (sweep) on l.sweep = w.id
where w.state = 'finished' and (select f.at from {{sweep_log}} f force index (sweep) where f.sweep = w.id order by f.id limit 1) < {{now}} - ?1
  and l.at < {{now}} - ?1
limit ?2;

-- name: drop_logs
-- Removes lines.
-- Inputs: {{list}} of ids.
-- Output: none.
-- Locks: the deleted rows.
delete l from {{sweep_log}} l force index (primary) where l.id in ({{list}}) and l.at >= 0;

-- name: drop_sweep_logs
-- Removes the lines of a sweep.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete l from {{sweep_log}} l force index (sweep) where l.sweep = ? and l.at >= 0;

-- name: old_sweep_events
-- Finds what happened long ago to sweeps that have finished.
-- Inputs: as old_sweep_logs.
-- Output: id.
-- Locks: none.
select e.id
from {{sweep}} w force index (state)
straight_join {{sweep_event}} e force index (sweep) on e.sweep = w.id
where w.state = 'finished' and (select f.at from {{sweep_event}} f force index (sweep) where f.sweep = w.id order by f.id limit 1) < {{now}} - ?1
  and e.at < {{now}} - ?1
limit ?2;

-- name: drop_events
-- Removes events.
-- Inputs: {{list}} of ids.
-- Output: none.
-- Locks: the deleted rows.
delete e from {{sweep_event}} e force index (primary) where e.id in ({{list}}) and e.at >= 0;

-- name: drop_sweep_events
-- Removes the history of a sweep.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete e from {{sweep_event}} e force index (sweep) where e.sweep = ? and e.at >= 0;

-- name: drop_sweep_items
-- Removes the list of a sweep.
-- Inputs: sweep.
-- Output: none.
-- Locks: the deleted rows.
delete i from {{sweep_item}} i force index (primary) where i.sweep = ? and i.first >= 0;
