-- Which job ids were reserved when: see sqlstore.idMarkStore.

-- name: id_mark_state
-- Reads what a new mark depends on.
-- Output: the clock; the smallest id that is not reserved; the smallest of a job; the last
-- marked_at and latest.
-- Locks: none.
select (select {{now}}), coalesce(pg_sequence_last_value('{{jobid}}') + 1000, 1),
    coalesce((select min(id) from {{job}}), 0),
    coalesce((select max(marked_at) from {{id_mark}}), 0),
    coalesce((select max(latest) from {{id_mark}}), 0);

-- name: add_id_mark
-- Adds a mark unless there is one with this id.
-- Inputs: $1 id, $2 marked_at, $3 latest.
-- Locks: none that others wait for.
insert into {{id_mark}} (id, marked_at, latest) values ($1::bigint, $2::bigint, $3::bigint) on conflict (id) do nothing;

-- name: late_ids
-- Records that jobs with ids from before a mark were created until a batch ended. Five minutes,
-- in microseconds, are sqlstore.createdSlack.
-- Inputs: $1 batch, locked.
-- Locks: the changed rows.
update {{id_mark}} m set latest = b.ended_at
from {{batch}} b
where b.id = $1::bigint and m.marked_at >= b.created_at - 300000000 and m.latest < b.ended_at;
