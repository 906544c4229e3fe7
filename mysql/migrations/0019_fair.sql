-- The order in which the jobs of a queue, or of all queues, start; empty if it is not set.
alter table {{quota}} add column start_order varbinary(16) not null default '';

-- How many jobs of a tenant a node has started in some ten seconds, in a queue of which
-- tenants share the starts by weight, or with an empty scope in all queues that follow
-- the cluster.
create table if not exists {{fair_start}} (
  bucket bigint not null,
  node bigint not null,
  scope varbinary(200) not null,
  tenant varbinary(200) not null,
  started bigint not null,
  primary key (bucket, node, scope, tenant)
) engine = InnoDB;
