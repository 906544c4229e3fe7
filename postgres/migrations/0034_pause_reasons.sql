-- Why a queue, kind or tenant is paused, for people.
alter table {{pause}} add column reason text collate "C" not null default '';
