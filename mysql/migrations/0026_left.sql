-- What tells nodes that left from those that died.

-- When the node left; zero: it lives, or died.
alter table {{node}} add column left_at bigint not null default 0;
