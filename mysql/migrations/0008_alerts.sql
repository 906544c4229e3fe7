-- What schedules remember for their alerts, as JSON; empty: nothing.

alter table {{schedule}} add column standing varbinary(400) not null default '';
