-- What schedules remember for their alerts, as JSON; empty: nothing.

alter table {{schedule}} add column standing text not null default '';
