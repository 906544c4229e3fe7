-- Statements about batches and their chunks. Those that write, and those that Conduct
-- reads with, run in one transaction that has the write lock.

-- name: added_batch
-- Follows add_batch in its transaction: reads what the batch got.
-- Inputs: none.  Output: id, created_at.  Locks: none.
select id, created_at from {{batch}} where id = last_insert_rowid();

-- name: share_batch
-- Looks for a batch. The transaction has the write lock already.
-- Inputs: id.  Output: id, if it exists.  Locks: the writer's.
select id from {{batch}} where id = ?;

-- name: lock_batch
-- Reads a batch as it was last acted upon.
-- Inputs: id.  Output: the columns of sqlstore.ScanLockedBatch.  Locks: none.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} where id = ?;

-- name: try_batch
-- As lock_batch.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} where id = ?;

-- name: batch_clock
-- This statement is empty, because a transaction of the writer knows the time.
-- Inputs: none.  Output: none.  Locks: none.

-- name: batches
-- Reads batches with how many of their jobs run. Only chunks with tasks that are out
-- are looked at, and none where Seen tells it. The conditions are put behind it.
-- Inputs: between which times Seen tells how many run.  Output: the columns of
-- sqlstore.ScanBatch; kind → how many run, as JSON, or null.  Locks: none.
select b.id, b.name, b.type, b.queue, b.tenant, b.created_at, b.body, b.status,
       case when coalesce(unixepoch(json_extract(b.status, '$.Seen.At'), 'subsec') * 1000000 between ? and ?, 0) = 0 then
       (select json_group_object(k.kind, k.jobs) from (
          select p.kind,
                 sum((select count(*) from {{running}} r where r.id between p.first and p.first + p.size - 1)
                   + (select count(*) from {{waiting}} w where w.id between p.first and p.first + p.size - 1)) as jobs
          from {{part}} p
          where p.batch = b.id and p.out > 0
          group by p.kind) k) end
from {{batch}} b;

-- name: ended_batches
-- Lists batches that completed in one of some states before a time.
-- Inputs: states as a JSON array, time, limit.  Output: id.  Locks: none.
select id from {{batch}}
where state in (select value from json_each(?)) and ended_at <> 0 and ended_at < ?
limit 0 + ?;

-- name: unopened_batches
-- Lists batches that were begun before a time and never opened, oldest first.
-- Inputs: time, limit.  Output: id.  Locks: none.
select id from {{batch}} where opened = 0 and created_at < ? order by created_at limit 0 + ?;

-- name: delete_batch
-- Removes a batch. Its chunks and their tasks go in the same transaction.
-- Inputs: id.  Output: none.  Locks: the writer's.
delete from {{batch}} where id = ?;

-- name: drop_batch_chunks
-- Removes all chunks of a batch.
-- Inputs: batch.  Output: none.  Locks: the writer's.
delete from {{part}} where batch = ?;

-- name: drop_batch_tasks
-- Removes the tasks of all chunks of a batch.
-- Inputs: batch.  Output: none.  Locks: the writer's.
delete from {{part_task}} where batch = ?;

-- name: add_chunks
-- Stores a chunk. It fails if its number is taken.
-- Inputs: the columns.  Output: none.  Locks: the writer's.
insert into {{part}} (batch, number, pass, kind, first, size, held, out, marks) values (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: chunks
-- Reads chunks. The conditions are put behind it.
-- Inputs: none.  Output: the columns of sqlstore.ScanChunk; tasks is null.  Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first, p.size, p.held, p.out, p.marks, null from {{part}} p;

-- name: chunks_tasks
-- Reads chunks with their tasks. The conditions are put behind it.
-- Inputs: none.  Output: the columns of sqlstore.ScanChunk.  Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first, p.size, p.held, p.out, p.marks, k.tasks
from {{part}} p cross join {{part_task}} k on k.batch = p.batch and k.number = p.number;

-- name: save_chunks
-- Keeps how the tasks of a chunk stand.
-- Inputs: batch, number, held, out, marks.  Output: none.  Locks: the writer's.
update {{part}} set held = ?3, out = ?4, marks = ?5 where batch = ?1 and number = ?2;

-- name: drop_chunk_tasks
-- Removes what the tasks of chunks have to do.
-- Inputs: batch, numbers as a JSON array.  Output: none.  Locks: the writer's.
delete from {{part_task}} where batch = ? and number in (select value from json_each(?));

-- name: drop_chunks
-- Removes chunks of a batch, without their tasks.
-- Inputs: batch, numbers as a JSON array.  Output: none.  Locks: the writer's.
delete from {{part}} where batch = ? and number in (select value from json_each(?));

-- name: ends
-- Lists the jobs of some ranges of ids that are final.
-- Inputs: first and last ids, as a JSON array of pairs.  Output: the columns of
-- sqlstore.EndRows.AddWhole.  Locks: none.
select d.id, d.fence, d.outcome, d.attempt, d.failures, d.crashes, coalesce(d.reason, ''), d.finished_at, m.memo, coalesce(m.released, 0)
from json_each(?) r
cross join {{done}} d on d.id between json_extract(r.value, '$[0]') and json_extract(r.value, '$[1]')
left join {{memo}} m on m.id = d.id;

-- name: recallable
-- Lists the jobs of a range of ids that wait to be started for the first time. One that
-- has a row in memo was started, though its attempt number may have been given back.
-- Inputs: first id, last id.  Output: id, lane, state, in order.  Locks: none.
select j.id, j.lane, case when l.id is not null then 'scheduled' when r.id is not null then 'ready' else 'parked' end
from {{job}} j
left join {{later}} l on l.id = j.id
left join {{ready}} r on r.lane = j.lane and r.solo in (0, 1) and r.turn = j.turn and r.start_by = j.start_by and r.id = j.id
left join {{parked}} p on p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id
where j.id between ? and ? and coalesce(l.attempt, r.attempt, p.attempt) = 0 and not exists (select 1 from {{memo}} m where m.id = j.id)
order by j.id;

-- name: leave_ready_many
-- Takes many jobs out of ready, suspects too.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{ready}}
where (lane, solo, turn, start_by, id) in (
  select j.lane, s.value, j.turn, j.start_by, j.id
  from json_each(?) v cross join {{job}} j on j.id = v.value cross join json_each('[0,1]') s);
