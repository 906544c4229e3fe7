-- What the token of a worker is bound to: JSON arrays, null if it is not bound.
alter table {{token}} add column kinds blob;

alter table {{token}} add column queues blob;

-- At most one row, whose revision is another number after each change of what is confidential:
-- the fields are read again only then.
create table if not exists {{confidential_change}} (
  id bigint not null primary key,
  revision bigint not null
) engine = InnoDB;
