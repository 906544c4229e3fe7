-- A view names the user who created it, and so does a dump of it: no other owner can restore
-- that without the right to act for others, and the view fails if the user does not exist.
drop view if exists {{job_view}};
drop view if exists {{audit_view}};
