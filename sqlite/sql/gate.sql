-- Statements of gates. They run in one transaction that has the write lock: the
-- places counted by one of them are still free for the next.

-- name: admissible
-- Finds the jobs that gates have places for: of each gate the first parked one, and
-- from each the next as long as places are left. Without the signs SQLite would compare
-- numbers of different types, and not use the index.
-- Inputs: gates as a JSON array.  Output: id, lane.  Locks: none.
with recursive passing (gate, turn, start_by, id, lane, free) as (
  select v.value, j.turn, j.start_by, j.id, j.lane,
         max(coalesce(q.per_key, 0), 1) - (select count(*) from {{admitted}} a where a.gate = v.value)
  from json_each(?) v
  cross join {{job}} j on j.id = (
    select p.id from {{parked}} p where p.gate = v.value order by p.turn, p.start_by, p.id limit 1)
  cross join {{lane}} l on l.id = j.lane
  left join {{quota}} q on q.scope = 'kind' and q.name = l.kind
  union all
  select b.gate, j.turn, j.start_by, j.id, j.lane, b.free - 1
  from passing b
  cross join {{job}} j on j.id = (
    select p.id from {{parked}} p
    where p.gate = b.gate and (p.turn, p.start_by, p.id) > (+b.turn, +b.start_by, +b.id)
    order by p.turn, p.start_by, p.id limit 1)
  where b.free > 1
)
select id, lane from passing where free > 0;

-- name: pass_gate
-- Makes parked jobs ready.
-- Inputs: crashes that make a suspect, ids as a JSON array.  Output: none.
-- Locks: the writer's.
insert into {{ready}} (lane, solo, turn, start_by, id, attempt, failures, crashes)
select p.lane, p.crashes >= ?, p.turn, p.start_by, p.id, p.attempt, p.failures, p.crashes
from json_each(?) v
cross join {{job}} j on j.id = v.value
cross join {{parked}} p on p.gate = j.gate and p.turn = j.turn and p.start_by = j.start_by and p.id = j.id;

-- name: leave_parked_many
-- Removes many jobs from parked: the second half of pass_gate.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{parked}}
where (gate, turn, start_by, id) in (
  select j.gate, j.turn, j.start_by, j.id from json_each(?) v cross join {{job}} j on j.id = v.value);

-- name: take_places
-- Gives jobs places at their gates.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
insert into {{admitted}} (gate, id)
select j.gate, j.id from json_each(?) v cross join {{job}} j on j.id = v.value;

-- name: leave_gates
-- Takes away the places that jobs have at their gates.
-- Inputs: ids as a JSON array.  Output: none.  Locks: the writer's.
delete from {{admitted}}
where (gate, id) in (select j.gate, j.id from json_each(?) v cross join {{job}} j on j.id = v.value);

-- name: gates_of
-- Lists the gates of those of many jobs that have one.
-- Inputs: ids as a JSON array.  Output: gate.  Locks: none.
select distinct j.gate from json_each(?) v cross join {{job}} j on j.id = v.value where j.gate is not null;

-- name: busy_gates
-- Lists the gates of a kind at which jobs are parked.
-- Inputs: kind.  Output: gate.  Locks: none.
select distinct p.gate from {{lane}} l cross join {{parked}} p on p.lane = l.id where l.kind = ?;

-- name: gate_state
-- Reads the state of a gate for one of its parked jobs.
-- Inputs: gate, turn, start_by and id of the job, limit of the count.
-- Output: places taken, jobs parked before it.  Locks: none.
select (select count(*) from {{admitted}} where gate = ?1),
       (select count(*) from (
          select 1 from {{parked}} where gate = ?1 and (turn, start_by, id) < (?2, ?3, ?4) limit 0 + ?5));

-- name: gate_holders
-- Lists some of the jobs that have a place at a gate.
-- Inputs: gate, limit.  Output: id, in order.  Locks: none.
select id from {{admitted}} where gate = ? order by id limit 0 + ?;
