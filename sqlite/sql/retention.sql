-- Statements about how long finished jobs of kinds are kept.

-- name: forget_kind_retentions
-- Removes what was not said lately.
-- Inputs: for how long it holds.  Output: none.  Locks: the writer's.
delete from {{kind_retention}} where said_at <= {{now}} - ?1;

-- name: finished_successes
-- Reads succeeded jobs that ended before a time, in the order of their ends, behind one.
-- Inputs: time; end, the same and id of that one; limit.
-- Output: id, when it ended, kind.  Locks: none.
select d.id, d.finished_at, l.kind
from {{done}} d cross join {{lane}} l on l.id = d.lane
where d.outcome = 1 and d.finished_at < ? and d.finished_at >= ? and (d.finished_at > ? or d.id > ?)
order by d.finished_at, d.id
limit 0 + ?;

-- name: finished_others
-- As finished_successes, for jobs of another outcome.
-- Inputs: outcome, and those of finished_successes.
-- Output, locks: as finished_successes.
select d.id, d.finished_at, l.kind
from {{done}} d cross join {{lane}} l on l.id = d.lane
where d.outcome = ? and d.finished_at < ? and d.finished_at >= ? and (d.finished_at > ? or d.id > ?)
order by d.finished_at, d.id
limit 0 + ?;

-- name: removable
-- Lists those of some jobs that have an outcome and did not end after a time, without
-- those whose end a schedule, a batch or a sweep has still to see.
-- Inputs: ids as a JSON array, outcome, time.  Output: id.  Locks: none.
select d.id from {{done}} d
where d.id in (select value from json_each(?)) and d.outcome = ? and d.finished_at <= ?
  and not exists (select 1 from {{fire}} f where f.job = d.id and f.open = 1)
  and ({{counting_batch}}) is null and ({{running_sweep}}) is null;
