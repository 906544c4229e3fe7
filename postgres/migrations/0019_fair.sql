-- The order in which the jobs of a queue, or of all queues, start; empty if it is not set.
alter table {{quota}} add column start_order text collate "C" not null default '';

-- How many jobs of a tenant a node has started in some ten seconds, in a queue of which
-- tenants share the starts by weight, or with an empty scope in all queues that follow
-- the cluster.
create table {{fair_start}} (
    bucket  bigint not null,
    node    bigint not null,
    started bigint not null,
    scope   text collate "C" not null,
    tenant  text collate "C" not null,
    primary key (bucket, node, scope, tenant)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
