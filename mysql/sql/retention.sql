-- Statements about how long finished jobs of kinds are kept.

-- name: forget_kind_retentions
-- Removes what was not said lately.
-- Inputs: for how long it holds.
-- Output: none.
-- Locks: rows of kind_retention.
delete from {{kind_retention}} where said_at <= {{now}} - ?;

-- name: finished_successes
-- Reads succeeded jobs that ended before a time, in the order of their ends, behind one.
-- Inputs: time; end, the same and id of that one; limit.
-- Output: id, when it ended, kind.
-- Locks: none.
select d.id, d.finished_at, l.kind
from {{done}} d force index (age)
straight_join {{lane}} l force index (primary) on l.id = d.lane
where d.outcome = 1 and d.finished_at < ? and d.finished_at >= ? and (d.finished_at > ? or d.id > ?)
order by d.finished_at, d.id
limit ?;

-- name: finished_others
-- As finished_successes, for jobs of another outcome.
-- Inputs: outcome, and those of finished_successes.
-- Output, locks: as finished_successes.
select d.id, d.finished_at, l.kind
from {{done}} d force index (age)
straight_join {{lane}} l force index (primary) on l.id = d.lane
where d.outcome = ? and d.finished_at < ? and d.finished_at >= ? and (d.finished_at > ? or d.id > ?)
order by d.finished_at, d.id
limit ?;

-- name: removable
-- Locks those of some jobs that have an outcome and did not end after a time, without those
-- whose end a schedule or a sweep has still to see. Tasks that a batch has still to count
-- are among them: see out_chunks.
-- Inputs: outcome, time; {{ids}}.
-- Output: id.
-- Locks: rows of done; skips what is locked.
select d.id
from {{done}} d force index (primary)
where d.id in ({{ids}}) and d.outcome = ? and d.finished_at <= ?
  and (select o.id from {{open_fire}} o force index (primary) where o.id = d.id) is null
  and ({{running_sweep}}) is null
for update skip locked;
