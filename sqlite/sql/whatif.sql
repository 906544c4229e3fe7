-- Statements of WhatIf: what claims decide by. They run beside the writer.

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
-- Inputs: none.  Output: queue, tenant, kind, how many.  Locks: none.
select l.queue, l.tenant, l.kind, h.jobs
from (select lane, count(*) as jobs from (select lane from {{running}} union all select lane from {{waiting}}) group by lane) h
cross join {{lane}} l on l.id = h.lane;

-- name: first_of_lanes
-- Finds the first ready job of every lane that has one, without suspects. It takes about
-- two index look-ups for each of them, however many jobs wait.
-- Inputs: none.
-- Output: lane, queue, tenant, kind; turn, start_by and id of the job with spaces between,
--   empty if there are only suspects.
-- Locks: none.
with recursive busy (lane) as (
  select min(lane) from {{ready}}
  union all
  select (select min(r.lane) from {{ready}} r where r.lane > busy.lane) from busy where busy.lane is not null
)
select l.id, l.queue, l.tenant, l.kind,
       coalesce((select r.turn || ' ' || r.start_by || ' ' || r.id
                 from {{ready}} r where r.lane = b.lane and r.solo = 0
                 order by r.turn, r.start_by, r.id limit 1), '')
from busy b
cross join {{lane}} l on l.id = b.lane;

-- name: first_of_lane
-- Lists the first ready jobs of a lane, without suspects.
-- Inputs: lane, how many.  Output: turn, start_by, id, in order.  Locks: none.
select turn, start_by, id from {{ready}}
where lane = ? and solo = 0
order by turn, start_by, id
limit 0 + ?;
