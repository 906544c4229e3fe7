-- What people count: failed jobs of a queue, tenant or kind. Jobs that do not fail are not in it.
create index concurrently {{done_failed_index}} on {{done}} (lane) where outcome = 2;
