-- Which job ids were reserved when: see sqlstore.idMarkStore.

-- name: id_mark_state
-- Reads what a new mark depends on.
-- Inputs: none.
-- Output: the clock; the smallest id that is not reserved; the smallest of a job; the last
-- marked_at and latest.
-- Locks: none.
select {{now}}, (select value + 1 from {{counter}} where name = 'job'),
  coalesce((select min(id) from {{job}}), 0),
  coalesce((select max(marked_at) from {{id_mark}}), 0),
  coalesce((select max(latest) from {{id_mark}}), 0);

-- name: add_id_mark
-- Adds a mark unless there is one with this id.
-- Inputs: id, marked_at, latest.
-- Output: none.
-- Locks: the inserted row.
insert ignore into {{id_mark}} (id, marked_at, latest) values (?, ?, ?);

-- name: late_ids
-- Records that jobs with ids from before a mark were created until a batch ended. Five minutes,
-- in microseconds, are sqlstore.createdSlack.
-- Inputs: batch, locked.
-- Output: none.
-- Locks: the changed rows.
update {{batch}} b force index (primary) straight_join {{id_mark}} m on m.marked_at >= b.created_at - 300000000 and m.latest < b.ended_at
set m.latest = b.ended_at
where b.id = ?;
