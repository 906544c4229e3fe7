package main

import (
	"slices"
	"testing"
)

func TestPredicatesOfAClauseAreFound(t *testing.T) {
	for statement, want := range map[string][]string{
		"select id from a where x = ? and not dead order by id limit ?":                        {"x = ?", "not dead"},
		"select id from a where at between ? and ? and y = 1":                                  {"at between ? and ?", "y = 1"},
		"delete from r using v where r.id = any (array[v.id]) and r.fence = v.fence returning": {"r.id = any (array[v.id])", "r.fence = v.fence"},
		"select 1 where exists (select 1 from n where n.id = 1 and n.dead = 0) and b":          {"exists (select 1 from n where n.id = 1 and n.dead = 0)", "n.id = 1", "n.dead = 0", "b"},
		"select case when a and b then 1 end from t where (a and b or c) and d":                {"(a and b or c)", "d"},
		"insert into t values (?) on conflict (id) do nothing":                                 nil,
		"select a and b from t join u on u.id = t.id and u.n > 1 where t.x":                    {"u.id = t.id", "u.n > 1", "t.x"},
	} {
		var got []string
		for _, c := range conjuncts(statement) {
			got = append(got, statement[c.from:c.to])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", statement, got, want)
		}
	}
}

func TestStatementsAreDamaged(t *testing.T) {
	const statement = `select id from {{running}} r
where r.fence = ? and lease_until > {{now}}
order by id limit ? for update skip locked`
	var got [][3]string
	for _, d := range damages(statement) {
		got = append(got, [3]string{d.kind, d.text, flat(d.is)})
	}
	want := [][3]string{
		{"lock", "for update skip locked", "select id from {{running}} r where r.fence = ? and lease_until > {{now}} order by id limit ?"},
		{"wait", "skip locked", "select id from {{running}} r where r.fence = ? and lease_until > {{now}} order by id limit ? for update"},
		{"limit", "order by id limit ?", "select id from {{running}} r where r.fence = ? and lease_until > {{now}} order by id, (? is null) for update skip locked"},
		{"fence", "r.fence = ?", "select id from {{running}} r where (r.fence = ? or true) and lease_until > {{now}} order by id limit ? for update skip locked"},
		{"lease", "lease_until > {{now}}", "select id from {{running}} r where r.fence = ? and (lease_until > {{now}} or true) order by id limit ? for update skip locked"},
		{"time", "lease_until > {{now}}", "select id from {{running}} r where r.fence = ? and lease_until < {{now}} order by id limit ? for update skip locked"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
