-- Common statements of declared tenants.

-- name: parents
-- Lists the declared tenants.
-- Inputs: none.
-- Output: name, parent.
-- Locks: none.
select name, parent from {{tenant}};

-- name: tenants
-- Lists declared tenants by name.
-- Inputs: name after which to start, limit.
-- Output: the declarations.
-- Locks: none.
select t.name, t.parent, coalesce(q.cap, 0), coalesce(q.{{minimum}}, 0), coalesce(q.rate, 0), coalesce(q.burst, 0),
       t.max_pending, t.weight, p.name is not null, t.labels, t.start_url, t.fail_url, t.timeout_url,
       t.version, t.created_at, t.updated_at
from {{tenant}} t
left join {{quota}} q on q.scope = 'tenant' and q.name = t.name
left join {{pause}} p on p.scope = 'tenant' and p.name = t.name
where t.name > ?::text
order by t.name
limit ?::int;

-- name: named_tenants
-- Lists the declared tenants among the given names.
-- Inputs: names, name after which to start, limit.
-- Output: the declarations by name.
-- Locks: none.
select t.name, t.parent, coalesce(q.cap, 0), coalesce(q.{{minimum}}, 0), coalesce(q.rate, 0), coalesce(q.burst, 0),
       t.max_pending, t.weight, p.name is not null, t.labels, t.start_url, t.fail_url, t.timeout_url,
       t.version, t.created_at, t.updated_at
from {{tenant}} t
left join {{quota}} q on q.scope = 'tenant' and q.name = t.name
left join {{pause}} p on p.scope = 'tenant' and p.name = t.name
where t.name in (?::text[]) and t.name > ?::text
order by t.name
limit ?::int;

-- name: tenant_version
-- Reads the version of a declared tenant, and when it was created.
-- Inputs: name.
-- Output: version, parent, created_at.
-- Locks: none.
select version, parent, created_at from {{tenant}} where name = ?::text;

-- name: touch_tenant
-- Gives a tenant a new version, because it was paused or resumed.
-- Inputs: version, name.
-- Output: none.
-- Locks: the row of tenant.
update {{tenant}} set version = ?::bigint, updated_at = {{now}} where name = ?::text;

-- name: delete_tenant
-- Deletes the declaration of a tenant.
-- Inputs: name.
-- Output: none.
-- Locks: the row of tenant.
delete from {{tenant}} where name = ?::text;
