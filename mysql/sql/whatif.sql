-- Statements of WhatIf: what claims decide by, read without any lock.

-- name: limit_tokens
-- Lists the limits that are set, with the starts that are saved up.
-- Inputs: none.
-- Output: id, scope, name, cap, least, rate, burst, per_key, start_order, tokens,
--   refilled_at.
-- Locks: none.
select id, scope, name, cap, least, rate, burst, per_key, start_order, tokens, refilled_at from {{quota}}
where cap > 0 or least > 0 or rate > 0 or per_key > 0 or start_order <> '';

-- name: held_lanes
-- Counts the jobs that count against limits. It reads whole tables, which have a row for
-- each taken slot and for each job that awaits its answer.
-- Inputs: none.
-- Output: queue, tenant, kind, how many.
-- Locks: none.
select l.queue, l.tenant, l.kind, h.jobs
from (
  select lane, count(*) as jobs from {{running}} group by lane
  union all
  select lane, count(*) from {{waiting}} group by lane
) h
join {{lane}} l on l.id = h.lane;

-- name: first_of_lanes
-- Finds the first ready job of every lane that has one, without suspects. It takes about
-- two index look-ups for each of them, however many jobs wait.
-- Inputs: none.
-- Output: lane, queue, tenant, kind; turn, start_by and id of the job with spaces between,
--   empty if there are only suspects.
-- Locks: none.
select l.id, l.queue, l.tenant, l.kind,
       coalesce((select concat_ws(' ', r.turn, r.start_by, r.id)
                 from {{ready}} r force index (primary)
                 where r.lane = l.id and r.solo = 0
                 order by r.turn, r.start_by, r.id
                 limit 1), '')
from (select distinct lane from {{ready}} force index for group by (primary)) b
join {{lane}} l on l.id = b.lane;

-- name: first_of_lane
-- Lists the first ready jobs of a lane, without suspects.
-- Inputs: lane, how many.
-- Output: turn, start_by, id, in order.
-- Locks: none.
select turn, start_by, id from {{ready}} force index (primary)
where lane = ? and solo = 0
order by turn, start_by, id
limit ?;
