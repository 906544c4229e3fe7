-- name: gates_with_news
-- Lists gates that may have a job to admit.
-- Inputs: $1 gate after which to begin, $2 limit.
-- Output: gates, in order.
-- Locks: none.
select distinct gate from {{gate_news}} where gate > $1::bigint order by gate limit $2::int;

-- name: lock_gates
-- Keeps other transactions from admitting at these gates.
-- Inputs: $1 gates.
-- Output: ignored.
-- Locks: the gates, in order; waits for transactions that admit there.
select pg_advisory_xact_lock(gate) from (select distinct gate from unnest($1::bigint[]) as g (gate) order by gate) in_order;

-- name: admit
-- Gives free places of gates to the first jobs parked there. It is a separate statement
-- after lock_gates, so its snapshot shows everything that was admitted under the locks
-- before. Rows of gate_news that are not in that snapshot stay. So do those of a gate
-- where a parked job was passed over because another transaction has locked it: if that
-- transaction is rolled back, it leaves no row itself.
-- Inputs: $1 gates, distinct.
-- Output: lane, count.
-- Locks: the moved jobs; passes over jobs that other transactions have locked.
with gate as materialized (
    select g.gate, greatest(coalesce(nullif(q.per_key, 0), 1) - taken.n, 0) as free
    from unnest($1::bigint[]) as g (gate)
    cross join lateral (select lane from {{parked}} where gate = g.gate order by turn, start_by, id limit 1) first
    cross join lateral (select count(*) as n from {{admitted}} where gate = g.gate) taken
    cross join lateral (select kind from {{lane}} where id = first.lane offset 0) l
    left join {{quota}} q on q.scope = any (array['kind']) and q.name = l.kind
),
called as materialized (
    select g.gate, p.id from gate g
    cross join lateral (select id from {{parked}} where gate = g.gate order by turn, start_by, id limit g.free) p
),
locked as materialized (
    select p.spot, p.gate from gate g
    cross join lateral (
        select ctid as spot, gate from {{parked}} where gate = g.gate order by turn, start_by, id limit g.free for update skip locked
    ) p
),
moved as materialized (
    delete from {{parked}} where ctid = any (array(select spot from locked))
    returning gate, turn, start_by, id, lane, attempt, failures, crashes
),
placed as (
    insert into {{admitted}} (gate, id) select gate, id from moved
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, (crashes >= {{solo_after}})::int, turn, start_by, id, attempt, failures, crashes from moved
),
heard as (
    delete from {{gate_news}}
    where gate = any ($1::bigint[]) and gate <> all (array(select gate from called where id not in (select id from moved)))
)
select lane, count(*) from moved group by lane;

-- name: leave_gates
-- Gives back the places of jobs that were moved in the same transaction, and records
-- their gates in gate_news.
-- Inputs: $1 ids, $2 'ended', 'put off' or 'deleted': only jobs to which that has
--   happened give their place back. A job may be scheduled for other reasons, so this
--   transaction must be the one that put it off.
-- Output: gates.
-- Locks: the places given back.
with given as materialized (
    delete from {{admitted}} a
    using unnest($1::bigint[]) as d (id)
    cross join lateral (select gate from {{job}} where id = d.id offset 0) j
    where a.gate = any (array[j.gate]) and a.id = d.id
      and case $2::text
          when 'ended' then (select true from {{done}} where id = d.id)
          when 'put off' then (select true from {{later}} where id = d.id and xmin = pg_current_xact_id()::xid)
          else true end
    returning a.gate
)
insert into {{gate_news}} (gate) select distinct gate from given returning gate;

-- name: depart
-- A part of statements that end jobs which they find themselves. It gives back the
-- places of leaving jobs, and records their gates in gate_news.
-- Inputs: id of leaving.
-- Locks: the places given back.
given as (
    delete from {{admitted}} a
    using leaving d
    cross join lateral (select gate from {{job}} where id = d.id offset 0) j
    where a.gate = any (array[j.gate]) and a.id = d.id
    returning a.gate
),
told as (
    insert into {{gate_news}} (gate) select distinct gate from given
);

-- name: due
-- A part of statements that make a scheduled job due: the job becomes ready, or is
-- parked if it has a gate and no place.
-- Inputs: moved, changed, due and now of clock.
-- Locks: inserted rows.
placed as materialized (
    select m.*, c.turn, c.start_by, case when (select true from {{admitted}} where gate = c.gate and id = m.id) is null then c.gate end as gate
    from moved m join changed c on c.id = m.id, clock
    where due <= now
),
parked as (
    insert into {{parked}} (gate, turn, start_by, id, lane, attempt, failures, crashes)
    select gate, turn, start_by, id, lane, attempt, failures, crashes from placed where gate is not null
    returning gate
),
told as (
    insert into {{gate_news}} (gate) select gate from parked
),
returned as (
    insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
    select lane, (crashes >= {{solo_after}})::int, turn, start_by, id, attempt, failures, crashes from placed where gate is null
);

-- name: stir_gates
-- Records all gates of a kind where jobs are parked in gate_news.
-- Inputs: $1 kind.
-- Locks: none.
with recursive gate as (
    (select gate, lane from {{parked}} order by gate limit 1)
    union all
    select n.gate, n.lane from gate g
    cross join lateral (select gate, lane from {{parked}} where gate > g.gate order by gate limit 1) n
)
insert into {{gate_news}} (gate)
select g.gate from gate g cross join lateral (select kind from {{lane}} where id = g.lane offset 0) l where l.kind = $1::text;

-- name: gate_holders
-- Reads how many places of a gate are taken, and which jobs hold them.
-- Inputs: $1 gate, $2 limit.
-- Output: how many in all, id; in order.
-- Locks: none.
select count(*) over (), id from {{admitted}} where gate = $1::bigint order by id limit $2::int;

-- name: gate_ahead
-- Counts the jobs that are parked before a key.
-- Inputs: $1 gate, $2 $3 $4 key (turn, start_by, id), $5 limit.
-- Output: their number.
-- Locks: none.
select count(*)
from (
    select from {{parked}}
    where gate = $1::bigint and (turn, start_by, id) < ($2::smallint, $3::bigint, $4::bigint)
    limit $5::int
) ahead;
