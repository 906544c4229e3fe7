-- What Prune looks for is the key "age" of {{done}} since the first migration. There
-- is something new on PostgreSQL alone.
do 0;
