-- Failed items that are to be tried again, and how many of them each shard has.

alter table {{failed_item}} add column again integer not null default 0;

alter table {{shard_progress}} add column again integer not null default 0;
