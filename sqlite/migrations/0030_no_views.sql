-- Only MySQL and MariaDB had views. There are none to drop here.
drop view if exists {{job_view}};
