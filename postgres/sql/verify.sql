-- name: rehold
-- Prepares a transaction that sets the limits of all running and waiting jobs again. It
-- reads whole tables, which are as small as the nodes' slots together. All claims wait
-- meanwhile, so it passes over jobs that other transactions hold, and waits only briefly
-- for other locks.
-- Output: ignored.
-- Locks: none.
select set_config('lock_timeout', '1s', true), set_config('enable_hashjoin', 'on', true), set_config('max_parallel_workers_per_gather', '0', true);

-- name: hold_running
-- Locks running jobs in their place.
-- Output: ids.
-- Locks: the rows of running; passes over those locked by others.
select id from {{running}} order by id for update skip locked;

-- name: hold_waiting
-- Does what hold_running does for waiting jobs. It is a separate statement that comes
-- later: jobs move from running to waiting, never back, so it sees those that
-- hold_running has missed.
-- Output: ids.
-- Locks: the rows of waiting; passes over those locked by others.
select id from {{waiting}} order by id for update skip locked;

-- name: used_lanes
-- Lists the lanes of running and waiting jobs.
-- Output: id, queue, tenant, kind.
-- Locks: none.
select id, queue, tenant, kind from {{lane}} where id = any (array(select lane from {{running}} union select lane from {{waiting}}));

-- name: rehold_running
-- Sets the limits that running jobs count against.
-- Inputs, in the same order: $1 lanes, $2 held or null; $3 ids, locked by hold_running.
-- Locks: the jobs that change.
update {{running}} r set held = n.held
from unnest($1::int[], $2::text[]) as n (lane, held)
where r.lane = n.lane and r.held is distinct from n.held and r.id = any ($3::bigint[]);

-- name: rehold_waiting
-- Does what rehold_running does for waiting jobs.
update {{waiting}} w set held = n.held
from unnest($1::int[], $2::text[]) as n (lane, held)
where w.lane = n.lane and w.held is distinct from n.held and w.id = any ($3::bigint[]);

-- name: rehold_left
-- Finds a job that counts against other limits than the current ones, because another
-- transaction holds it.
-- Inputs, in the same order: $1 lanes, $2 held or null.
-- Output: one row if there is one.
-- Locks: none.
select 1
from unnest($1::int[], $2::text[]) as n (lane, held)
join (select lane, held from {{running}} union all select lane, held from {{waiting}}) j on j.lane = n.lane and j.held is distinct from n.held
limit 1;

-- name: recount
-- Counts the jobs of every limit again, each against the limits that it holds. It is one
-- statement with one snapshot: a job that another transaction ends meanwhile is still seen
-- to hold its slots, or is seen to have given them back.
-- Output: scope, name, jobs counted before, jobs found; only limits that differ.
-- Locks: the limits that are written, all deltas.
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
