-- name: rehold
-- Prepares a transaction that gives all jobs which run or wait what they are to
-- count against. It reads whole tables, which are as small as the nodes' slots
-- together. All claims wait meanwhile: it does not wait for others for long.
-- Output: to be ignored.
-- Locks: none.
select set_config('lock_timeout', '1s', true), set_config('enable_hashjoin', 'on', true), set_config('max_parallel_workers_per_gather', '0', true);

-- name: hold_running
-- Keeps running jobs where they are, once those who move them now are done.
-- Locks: all of running.
select count(*) from (select from {{running}} order by id for update) r;

-- name: hold_waiting
-- As hold_running, for jobs that wait. It is a statement of its own and comes
-- after: jobs move from running to waiting, never back, so that it sees those
-- which hold_running has missed.
-- Locks: all of waiting.
select count(*) from (select from {{waiting}} order by id for update) w;

-- name: used_lanes
-- The lanes of jobs that run or wait.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id = any (array(select lane from {{running}} union select lane from {{waiting}}));

-- name: rehold_running
-- Sets what running jobs count against.
-- Inputs, in step: $1 lanes, $2 held or null.
-- Locks: the jobs that change.
update {{running}} r set held = n.held
from unnest($1::int[], $2::text[]) as n (lane, held)
where r.lane = n.lane and r.held is distinct from n.held;

-- name: rehold_waiting
-- As rehold_running, for jobs that wait.
update {{waiting}} w set held = n.held
from unnest($1::int[], $2::text[]) as n (lane, held)
where w.lane = n.lane and w.held is distinct from n.held;

-- name: recount
-- Counts the jobs of every quota anew, while they all stay where they are.
-- Output: scope, name, jobs counted before, jobs found, of those that differ.
-- Locks: the quotas that are written, all deltas.
with folded as materialized (
    delete from {{quota_delta}} returning quota, n
),
totals as materialized (
    select id, sum(counted)::int as counted, sum(found)::int as found
    from (
        select id, used as counted, 0 as found from {{quota}}
        union all
        select quota, -n, 0 from folded
        union all
        select quota::int, 0, 1
        from (select held from {{running}} union all select held from {{waiting}}) h, unnest(string_to_array(h.held, ' ')) as quota
    ) u
    group by id
),
corrected as (
    update {{quota}} q set used = t.found from totals t where q.id = t.id and q.used <> t.found
)
select q.scope, q.name, t.counted, t.found
from totals t join {{quota}} q on q.id = t.id
where t.counted <> t.found
order by q.scope, q.name;
