-- The version of the calendar that a schedule's cursor was computed with: one that
-- is not the calendar's own has to be computed anew. 0 of schedules that have no
-- calendar, or that an older program stored.
alter table {{schedule}} add column calendar_seen bigint not null default 0;

create index on {{schedule}} (calendar, calendar_seen) where calendar <> '' and deleted_at = 0;

-- Calendars that have changed last, however many there are.
create index on {{calendar}} (version);
