-- Statements about what tenants have and do.

-- name: add_starts
-- Adds to what a tenant has started in the present bucket. It runs for each.
-- Inputs: tenant, how many, how many of them too late.  Output: none.
-- Locks: the writer's.
insert into {{starts}} (bucket, tenant, started, missed) values ({{now}} / {{starts_bucket}}, ?1, ?2, ?3)
on conflict (bucket, tenant) do update set started = started + excluded.started, missed = missed + excluded.missed;

-- name: forget_starts
-- Removes what is too old to be asked for.
-- Inputs: none.  Output: none.  Locks: the writer's.
delete from {{starts}} where bucket < ({{now}} - {{starts_window}}) / {{starts_bucket}};
