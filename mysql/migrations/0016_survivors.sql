-- What tells processes that live from those that died (see docs/decisions/0021), and
-- where they write.

-- Whether the process said that it lives, though it lost its lease.
alter table {{node}} add column lived tinyint not null default 0;

-- Jobs that were taken back from a node with a crash counted, by the attempt that
-- was recorded. They are forgotten when the node says that it lived, and after an hour.
create table if not exists {{reaped}} (
  node bigint not null,
  id bigint not null,
  run int not null,
  at bigint not null,
  primary key (node, id, run),
  key age (at)
) engine = InnoDB;

-- The member of a Galera cluster that processes write to, and until when that holds
-- without a word from them; one row, unused elsewhere.
create table if not exists {{writer}} (
  id tinyint not null primary key,
  member varbinary(600) not null,
  expires bigint not null
) engine = InnoDB;

insert ignore into {{writer}} (id, member, expires) values (1, '', 0);
