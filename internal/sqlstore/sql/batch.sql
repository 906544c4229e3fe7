-- Common statements of batches.

-- name: add_batch
-- Stores a batch without tasks.
-- Inputs: opened, open, name, type, queue, tenant, state, status, body.
-- Output: none.
-- Locks: the inserted row.
insert into {{batch}} (id, created_at, ended_at, opened, open, name, type, queue, tenant, state, status, body)
values ({{new_batch}}, {{now}}, 0, ?::bool, ?::bool, ?::text, ?::text, ?::text, ?::text, ?::text, ?::json, ?::json);

-- name: keep_batch
-- Stores the changes of a batch that is locked.
-- Inputs: ended_at, opened, open, state, status, body or null, id.
-- Output: none.
-- Locks: the row.
update {{batch}}
set ended_at = ?::bigint, opened = ?::bool, open = ?::bool, state = ?::text, status = ?::json, body = coalesce(?::json, body)
where id = ?::bigint;

-- name: add_tasks
-- Stores the tasks of a chunk.
-- Inputs: batch, number, tasks.
-- Output: none.
-- Locks: the inserted row.
insert into {{part_task}} (batch, number, tasks) values (?::bigint, ?::int, ?::json);

-- name: pass_chunks
-- Lists the chunks of a pass.
-- Inputs: batch, pass.
-- Output: number.
-- Locks: none.
select number from {{part}} /*! force index (primary) */ where batch = ?::bigint and pass = ?::int;

-- name: known_jobs
-- Lists the IDs of a range that belong to jobs.
-- Inputs: first id, last id.
-- Output: id.
-- Locks: none.
select id from {{job}} /*! force index (primary) */ where id between ?::bigint and ?::bigint order by id;

-- name: running_between
-- Counts the running and waiting jobs in a range of IDs.
-- Inputs: first id, last id.
-- Output: number of jobs.
-- Locks: none.
select (select count(*) from {{running}} /*! force index (primary) */ where id between ?1::bigint and ?2::bigint)
     + (select count(*) from {{waiting}} /*! force index (primary) */ where id between ?1::bigint and ?2::bigint);
