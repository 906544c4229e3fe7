-- What people count: failed jobs of a queue, tenant or kind. Jobs that do not fail are not in it.
create index {{done_failed}} on {{done}} (lane) where outcome = 2 and lane > 0;
