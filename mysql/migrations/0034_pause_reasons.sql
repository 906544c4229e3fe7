-- Why a queue, kind or tenant is paused, for people.
alter table {{pause}} add column reason varbinary(1000) not null default '';
