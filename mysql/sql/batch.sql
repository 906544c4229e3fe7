-- Statements of batches. They run only in the store's own transactions, at READ
-- COMMITTED. First the batch is locked, then its chunks, then jobs in their places.

-- name: added_batch
-- Follows add_batch on its connection: reads what the batch got.
-- Inputs: none.
-- Output: id, created_at.
-- Locks: none.
select id, created_at from {{batch}} force index (primary) where id = last_insert_id();

-- name: lock_batch
-- Keeps other transactions from acting upon a batch.
-- Inputs: id.
-- Output: the columns of sqlstore.ScanLockedBatch.
-- Locks: the row of batch.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} force index (primary) where id = ? for update;

-- name: try_batch
-- As lock_batch, but it does not wait: there is no output if another has the lock.
select id, name, type, queue, tenant, created_at, body, status, (select losses from {{server}} where id = 1) from {{batch}} force index (primary) where id = ? for update skip locked;

-- name: share_batch
-- Keeps a batch from being removed.
-- Inputs: id.
-- Output: id, if it exists.
-- Locks: the row of batch, shared.
select id from {{batch}} force index (primary) where id = ? lock in share mode;

-- name: batch_clock
-- Follows lock_batch or try_batch: reads the clock under the lock.
-- Inputs: id.
-- Output: the time, whether there is such a batch.
-- Locks: none.
select {{now}}, exists (select 1 from {{batch}} force index (primary) where id = ?);

-- name: batches
-- Lists batches, newest first.
-- Inputs: {{index}}, {{id}} below which to look, {{named}}: further conditions or
--   nothing, {{limit}}.
-- Output: id, name, type, queue, tenant, created_at, body, status, the time.
-- Locks: none.
select id, name, type, queue, tenant, created_at, body, status, {{now}}
from {{batch}} force index ({{index}})
where id < {{id}} {{named}}
order by id desc
limit {{limit}};

-- name: out_ranges
-- Tells where to look for jobs of batches that run.
-- Inputs: {{ids}} of batches.
-- Output: batch, kind of the pass, first and last id.
-- Locks: none.
select batch, kind, first_job, first_job + size - 1 from {{part}} force index (outside) where batch in ({{ids}}) and any_out = 1;

-- name: running_among
-- Tells which jobs run or wait.
-- Inputs: {{among}}.
-- Output: id.
-- Locks: none.
select id from {{running}} force index (primary) where {{among}}
union all
select id from {{waiting}} force index (primary) where {{among}};

-- name: add_chunks
-- Stores chunks. It fails if one of the numbers is taken.
-- Inputs: {{rows}} of batch, number, pass, kind, first_job, size, held, out_, marks.
-- Output: none.
-- Locks: inserted rows; waits for others who take the same number.
insert into {{part}} (batch, number, pass, kind, first_job, size, held, out_, marks) values {{rows}};

-- name: save_chunks
-- Keeps how the tasks of chunks stand. The chunks are there: their other columns, which an
-- insert has to name, are ignored.
-- Inputs: {{rows}} of batch, number, held, out_, marks.
-- Output: none.
-- Locks: the rows of chunk.
insert into {{part}} (batch, number, pass, kind, first_job, size, held, out_, marks) values {{rows}}(?, ?, 0, '', 0, 0, ?, ?, ?){{end}}
on duplicate key update held = values(held), out_ = values(out_), marks = values(marks);

-- name: drop_chunks
-- Removes chunks of a batch.
-- Inputs: batch, {{list}} of numbers.
-- Output: none.
-- Locks: rows of chunk.
delete p
from json_table(_utf8mb4'[{{list}}]', '$[*]' columns (number int path '$')) v
straight_join {{part}} p force index (primary) on p.batch = ? and p.number = v.number;

-- name: drop_chunk_tasks
-- Removes what the tasks of chunks of a batch have to do.
-- Inputs: batch, {{list}} of numbers.
-- Output: none.
-- Locks: rows of part_task.
delete t
from json_table(_utf8mb4'[{{list}}]', '$[*]' columns (number int path '$')) v
straight_join {{part_task}} t force index (primary) on t.batch = ? and t.number = v.number;

-- name: chunks
-- Reads chunks of a batch.
-- Inputs: {{batch_id}}, {{chosen}}: a query of their numbers.
-- Output: the columns of sqlstore.ScanChunk; tasks is null.
-- Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first_job, p.size, p.held, p.out_, p.marks, null
from ({{chosen}}) n
straight_join {{part}} p force index (primary) on p.batch = {{batch_id}} and p.number = n.number;

-- name: chunks_with_tasks
-- The same with what their tasks have to do.
-- Inputs: as chunks, and {{known}}: first jobs of chunks whose tasks are known.
-- Output: as chunks; tasks is null only if they are known.
-- Locks: none.
select p.batch, p.number, p.pass, p.kind, p.first_job, p.size, p.held, p.out_, p.marks, t.tasks
from ({{chosen}}) n
straight_join {{part}} p force index (primary) on p.batch = {{batch_id}} and p.number = n.number
left join {{part_task}} t force index (primary) on t.batch = {{batch_id}} and t.number = n.number and p.first_job not in ({{known}});

-- name: chunks_held
-- A query of the chunks of one kind with tasks that are held. Several of these are
-- joined by union all.
-- Inputs: {{batch_id}}, {{kind}}, {{after}}: number behind which to look, {{named}}:
--   further conditions or nothing, {{limit}}.
-- Output: number.
-- Locks: none.
(select number from {{part}} force index (held)
where batch = {{batch_id}} and any_held = 1 and kind = {{kind}} and number > {{after}} {{named}}
order by number limit {{limit}});

-- name: chunks_out
-- A query of the chunks with tasks that are out.
-- Inputs: as parts_held, without a kind.
-- Output: number.
-- Locks: none.
select number from {{part}} force index (outside)
where batch = {{batch_id}} and any_out = 1 and number > {{after}} {{named}}
order by number limit {{limit}};

-- name: chunks_of_all
-- A query of chunks.
-- Inputs: as parts_out.
-- Output: number.
-- Locks: none.
select number from {{part}} force index (primary)
where batch = {{batch_id}} and number > {{after}} {{named}}
order by number limit {{limit}};

-- name: ends
-- Reads how jobs ended.
-- Inputs: {{among}}.
-- Output: id, fence, outcome, attempt, failures, crashes, reason (empty if there is none), finished_at.
-- Locks: none.
select id, fence, outcome, attempt, failures, crashes, coalesce(reason, ''), finished_at from {{done}} force index (primary) where {{among}};

-- name: memos
-- Reads what handlers kept.
-- Inputs: {{among}}.
-- Output: id, memo or null, whether a run was released after its handler had begun.
-- Locks: none.
select id, memo, released from {{memo}} force index (primary) where {{among}} and (memo is not null or released = 1);

-- name: lock_job_range
-- Locks jobs of a range of ids: no claim takes them from then on.
-- Inputs: first id, last id.
-- Output: id, lane, turn, start_by, gate (0 if it has none).
-- Locks: rows of job; skips what is locked.
select id, lane, turn, start_by, coalesce(gate, 0)
from {{job}} force index (primary)
where id between ? and ?
for update skip locked;

-- name: begun_between
-- Tells which jobs of a range of ids have a row in memo: they were started, though their
-- attempt numbers may have been given back. It comes after the jobs are locked in their
-- places, so a release that put one of them there is seen with its row in memo.
-- Inputs: first id, last id.
-- Output: id.
-- Locks: none.
select id from {{memo}} force index (primary) where id between ? and ?;

-- name: recall_later
-- Locks scheduled jobs that have never been started.
-- Inputs: {{ids}}.
-- Output: id, attempt.
-- Locks: rows of later; skips what is locked.
select id, attempt from {{later}} force index (primary) where id in ({{ids}}) and attempt = 0 for update skip locked;

-- name: recall_ready
-- Locks ready jobs that have never been started.
-- Inputs: {{rows}} of lane, solo, turn, start_by, id.
-- Output: id, attempt.
-- Locks: rows of ready; skips what is locked.
select id, attempt from {{ready}} force index (primary)
where (lane, solo, turn, start_by, id) in ({{rows}}) and attempt = 0
for update skip locked;

-- name: recall_parked
-- Locks parked jobs that have never been started.
-- Inputs: {{rows}} of gate, turn, start_by, id.
-- Output: id, attempt.
-- Locks: rows of parked; skips what is locked.
select id, attempt from {{parked}} force index (primary)
where (gate, turn, start_by, id) in ({{rows}}) and attempt = 0
for update skip locked;

-- name: lock_old_batch
-- Locks a batch that ended in a state before a time.
-- Inputs: state, time.
-- Output: id.
-- Locks: the row of batch; skips what is locked.
select id from {{batch}} force index (age)
where state = ? and ended_at > 0 and ended_at < ?
order by ended_at
limit 1
for update skip locked;

-- name: lock_unopened
-- Locks a batch that was made before a time and whose tasks were never all stored.
-- Inputs: time.
-- Output: id.
-- Locks: the row of batch; skips what is locked.
select id from {{batch}} force index (opened)
where opened = 0 and created_at < ?
order by created_at
limit 1
for update skip locked;

-- name: drop_batch_chunks
-- Removes all chunks of a batch.
-- Inputs: batch.
-- Output: none.
-- Locks: rows of chunk.
delete p from {{part}} p force index (primary) where batch = ? and size >= 0;

-- name: drop_batch_tasks
-- Removes what the tasks of a batch have to do.
-- Inputs: batch.
-- Output: none.
-- Locks: rows of part_task.
delete t from {{part_task}} t force index (primary) where batch = ? and tasks is not null;

-- name: delete_batch
-- Removes a batch that is locked.
-- Inputs: id.
-- Output: none.
-- Locks: the row.
delete b from {{batch}} b force index (primary) where id = ? and opened >= 0;
