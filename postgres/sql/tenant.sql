-- name: tenants
-- Declared tenants, in order of name.
-- Inputs: $1 name to begin behind, $2 at most so many.
-- Output: what was declared.
-- Locks: none.
select t.name, t.parent, coalesce(q.cap, 0), coalesce(q.minimum, 0), coalesce(q.rate, 0), coalesce(q.burst, 0),
       t.max_pending, t.weight, p.name is not null, t.labels, t.start_url, t.fail_url, t.timeout_url,
       t.version, t.created_at, t.updated_at
from {{tenant}} t
left join {{quota}} q on q.scope = 'tenant' and q.name = t.name
left join {{pause}} p on p.scope = 'tenant' and p.name = t.name
where t.name > $1::text
order by t.name
limit $2::int;

-- name: named_tenants
-- Those of declared tenants that are asked for, in order of name.
-- Inputs: $1 names, $2 name to begin behind, $3 at most so many.
-- Output: what was declared.
-- Locks: none.
select t.name, t.parent, coalesce(q.cap, 0), coalesce(q.minimum, 0), coalesce(q.rate, 0), coalesce(q.burst, 0),
       t.max_pending, t.weight, p.name is not null, t.labels, t.start_url, t.fail_url, t.timeout_url,
       t.version, t.created_at, t.updated_at
from {{tenant}} t
left join {{quota}} q on q.scope = 'tenant' and q.name = t.name
left join {{pause}} p on p.scope = 'tenant' and p.name = t.name
where t.name = any ($1::text[]) and t.name > $2::text
order by t.name
limit $3::int;

-- name: tenant_version
-- How a tenant is declared now.
-- Inputs: $1 name.
-- Output: version, parent, created_at; no row if it is not declared.
-- Locks: none.
select version, parent, created_at from {{tenant}} where name = $1::text;

-- name: family
-- The tenants that decide whether another may be declared or deleted.
-- Inputs: $1 its name, $2 its parent.
-- Output: name and parent of its parent and its children.
-- Locks: none.
select name, parent from {{tenant}} where name = $2::text
union all
select name, parent from {{tenant}} where parent = $1::text and parent <> '';

-- name: minimums
-- What tenants are guaranteed, and what there is.
-- Inputs: $1 name of a tenant that is left out.
-- Output: minimums of all others together, global cap or 0.
-- Locks: none.
select coalesce(sum(minimum) filter (where scope = 'tenant' and name <> $1::text), 0), coalesce(max(cap) filter (where scope = 'global'), 0)
from {{quota}};

-- name: put_tenant
-- Stores what is declared of a tenant.
-- Inputs: $1 name, $2 parent, $3 max_pending, $4 weight, $5 labels, $6 start_url, $7 fail_url,
--   $8 timeout_url, $9 version, $10 created_at, $11 updated_at.
-- Locks: the row.
insert into {{tenant}} (name, parent, max_pending, weight, labels, start_url, fail_url, timeout_url, version, created_at, updated_at)
values ($1::text, $2::text, $3::int, $4::int, $5::json, $6::text, $7::text, $8::text, $9::bigint, $10::bigint, $11::bigint)
on conflict (name) do update set
    parent = excluded.parent, max_pending = excluded.max_pending, weight = excluded.weight, labels = excluded.labels,
    start_url = excluded.start_url, fail_url = excluded.fail_url, timeout_url = excluded.timeout_url,
    version = excluded.version, updated_at = excluded.updated_at;

-- name: touch_tenant
-- Gives a tenant another version, because it was paused or resumed.
-- Inputs: $1 version, $2 name.
-- Locks: the row.
update {{tenant}} set version = $1::bigint, updated_at = {{now}} where name = $2::text;

-- name: delete_tenant
-- Forgets what was declared of a tenant.
-- Inputs: $1 name.
-- Locks: the deleted row.
delete from {{tenant}} where name = $1::text;

-- name: bounds
-- Lists the tenants that may not have any number of jobs pending.
-- Output: name, how many.
-- Locks: none.
select name, max_pending from {{tenant}} where max_pending > 0;
