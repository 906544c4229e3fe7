-- The version of the calendar that a schedule's cursor was computed with: one that
-- is not the calendar's own has to be computed anew. 0 of schedules that have no
-- calendar, or that an older program stored.
alter table {{schedule}} add column calendar_seen bigint not null default 0, add key calendar_seen (calendar, calendar_seen);

-- Calendars that have changed last, however many there are.
alter table {{calendar}} add key version (version);
