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

-- name: bounds
-- Lists the tenants that may not have any number of jobs pending.
-- Output: name, how many.
-- Locks: none.
select name, max_pending from {{tenant}} where max_pending > 0;
