-- What the token of a worker is bound to: JSON arrays, null if it is not bound.
alter table {{token}} add column kinds text;

alter table {{token}} add column queues text;
