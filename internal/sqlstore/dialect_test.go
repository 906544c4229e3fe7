package sqlstore

import "testing"

func TestCommonStatementsAreTranslated(t *testing.T) {
	for name, c := range map[string]struct{ common, postgres, mysql, sqlite string }{
		"arguments in order": {
			"select a from {{t}} where b = ?::text limit ?::int",
			"select a from {{t}} where b = $1::text limit $2::int",
			"select a from {{t}} where b = ? limit ?",
			"select a from {{t}} where b = ?1 limit 0 + ?2",
		},
		"an argument used twice": {
			"update {{t}} set a = ?2::bigint where id = ?1::bigint and a < ?2::bigint",
			"update {{t}} set a = $2::bigint where id = $1::bigint and a < $2::bigint",
			"update {{t}} set a = ?2 where id = ?1 and a < ?2",
			"update {{t}} set a = ?2 where id = ?1 and a < ?2",
		},
		"a list, and an index": {
			"select id from {{t}} /*! force index (primary) */ where id in (?::bigint[])",
			"select id from {{t}} where id = any ($1::bigint[])",
			"select id from {{t}} force index (primary) where id in ({{list}})",
			"select id from {{t}} where id in (select value from json_each(?1))",
		},
		"a deletion by an index": {
			"delete from {{t}} /*! force index (b) */ where b < ?::bigint",
			"delete from {{t}} where b < $1::bigint",
			"delete old from {{t}} old force index (b) where b < ?",
			"delete from {{t}} where b < ?1",
		},
		"an insert unless there is such a row": {
			"insert into {{t}} (id, name, at)\nvalues ({{new_t}}, ?::text, {{now}}) on conflict (name) do nothing",
			"insert into {{t}} (id, name, at)\nvalues (default, $1::text, {{now}}) on conflict (name) do nothing",
			"insert {{unless_taken}} into {{t}} (id, name, at)\nvalues (null, ?, {{now}})",
			"insert into {{t}} (id, name, at)\nvalues ({{new_t}}, ?1, {{now}}) on conflict (name) do nothing",
		},
		"an insert or update": {
			"insert into {{t}} (a, b) values (?::text, (select {{now}})) on conflict (a, c) do update set b = excluded.b",
			"insert into {{t}} (a, b) values ($1::text, (select {{now}})) on conflict (a, c) do update set b = excluded.b",
			"insert into {{t}} (a, b) values (?, {{now}}) on duplicate key update b = values(b)",
			"insert into {{t}} (a, b) values (?1, {{now}}) on conflict (a, c) do update set b = excluded.b",
		},
		"sums, quotients and the larger one of two": {
			"select sum(n)::bigint, greatest(a / {{size}}, 1) from {{t}}",
			"select sum(n)::bigint, greatest(a / {{size}}, 1) from {{t}}",
			"select cast(sum(n) as signed), greatest(a div {{size}}, 1) from {{t}}",
			"select sum(n), max(a / {{size}}, 1) from {{t}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for dialect, pair := range map[string][2]string{
				"PostgreSQL": {PostgreSQL(c.common), c.postgres}, "MySQL": {MySQL(c.common), c.mysql}, "SQLite": {SQLite(c.common), c.sqlite},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s:\n%s\nwant\n%s", dialect, pair[0], pair[1])
				}
			}
		})
	}
}

func TestAStatementIsEitherCommonOrAStoresOwn(t *testing.T) {
	_, err := Statements(statementFiles("-- name: tokens\nselect 1;\n"), PostgreSQL)
	if err == nil || err.Error() != `statement "tokens" is also a common one` {
		t.Errorf("got %v", err)
	}
}
