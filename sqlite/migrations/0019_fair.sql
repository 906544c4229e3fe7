-- The order in which the jobs of a queue, or of all queues, start; empty if it is not set.
alter table {{quota}} add column start_order text not null default '';

-- How many jobs of a tenant a node has started in some ten seconds, in a queue of which
-- tenants share the starts by weight, or with an empty scope in all queues that follow
-- the cluster.
create table {{fair_start}} (
  bucket  integer not null,
  node    integer not null,
  scope   text not null,
  tenant  text not null,
  started integer not null,
  primary key (bucket, node, scope, tenant)
) without rowid;
