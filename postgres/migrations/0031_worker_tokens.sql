-- What the token of a worker is bound to: JSON arrays, null if it is not bound.
alter table {{token}} add column kinds json;

alter table {{token}} add column queues json;

-- At most one row, whose revision is another number after each change of what is confidential:
-- the fields are read again only then.
create table {{confidential_change}} (
    id       bigint primary key,
    revision bigint not null
);
