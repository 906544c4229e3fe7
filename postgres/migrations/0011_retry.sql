-- Failed items that are to be tried again, and how many of them each shard has.

alter table {{failed_item}} add column again boolean not null default false;

alter table {{shard_progress}} add column again bigint not null default 0;
