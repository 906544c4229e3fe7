-- name: forget_kind_retentions
-- Removes what was not said lately.
-- Inputs: $1 for how long it holds.
-- Locks: the removed rows; passes over rows locked by others.
delete from {{kind_retention}}
where ctid = any (array(select ctid from {{kind_retention}} where said_at <= (select {{now}}) - $1::bigint for update skip locked));

-- name: finished_successes
-- Reads succeeded jobs that ended before a time, in the order of their ends, behind one.
-- Inputs: $1 time; $2 end, $3 the same and $4 id of that one; $5 limit.
-- Output: id, when it ended, kind.
-- Locks: none.
select p.id, p.finished_at, l.kind
from (select d.id, d.finished_at, d.lane from {{done}} d
      where d.outcome = 1 and d.finished_at < $1::bigint and d.finished_at >= $2::bigint and (d.finished_at > $3::bigint or d.id > $4::bigint)
      order by d.finished_at, d.id limit $5::int) p
join {{lane}} l on l.id = p.lane
order by p.finished_at, p.id;

-- name: finished_others
-- As finished_successes, for jobs of another outcome.
-- Inputs: $1 outcome, and those of finished_successes.
-- Output, locks: as finished_successes.
select p.id, p.finished_at, l.kind
from (select d.id, d.finished_at, d.lane from {{done}} d
      where d.outcome = $1::smallint and d.outcome <> 1 and d.finished_at < $2::bigint and d.finished_at >= $3::bigint and (d.finished_at > $4::bigint or d.id > $5::bigint)
      order by d.outcome, d.finished_at, d.id limit $6::int) p
join {{lane}} l on l.id = p.lane
order by p.finished_at, p.id;

-- name: removable
-- Takes those of some jobs out of their place, to be forgotten, that have an outcome and
-- did not end after a time, and that none has still to see. Deletes only what it has
-- locked, so that a job that is being re-opened stays.
-- Inputs: $1 ids, $2 outcome, $3 time.
-- Output: ids, when each ended.
-- Locks: the deleted rows; passes over jobs locked by others.
delete from {{done}}
where ctid = any (array(
    select d.ctid from {{done}} d where d.id = any ($1::bigint[]) and d.outcome = $2::smallint and d.finished_at <= $3::bigint and {{unneeded}}
    for update of d skip locked))
returning id, finished_at;
