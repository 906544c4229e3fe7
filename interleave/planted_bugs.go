package interleave

var bugs = []Bug{
	{
		Name: "a success does not compare its fence", Why: "late results of a node that lost its lease are rejected",
		Database: "postgres", Pairs: "orphaned: settle: succeed × reap",
		File: "postgres/sql/settle.sql",
		Was:  "delete from {{running}} where id = any ($2::bigint[]) and fence = $1::bigint",
		Is:   "delete from {{running}} where id = any ($2::bigint[]) and fence >= $1::bigint - $1::bigint",
	},
}
