-- What lists and counts look for, so that what they read follows what they answer.

-- The pending jobs of a tenant, which are counted before more are stored.
alter table {{later}} add index lane (lane);

alter table {{parked}} add index lane (lane);

-- The few errors among the lines of a sweep. An index takes no blob.
alter table {{sweep_log}} add column level_key varbinary(16) generated always as (left(level, 16)) virtual;

alter table {{sweep_log}} add index level (sweep, level_key, id);

-- The few failed items that wait to be tried again.
alter table {{failed_item}} add index again (sweep, again, idx);
