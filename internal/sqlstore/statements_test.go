package sqlstore

import (
	"strings"
	"testing"
	"testing/fstest"
)

// SharedStatements is embedded by several stores.
type SharedStatements struct {
	Count string `sql:"count"`
}

func TestStatementsAndFieldsBelongTogether(t *testing.T) {
	files := func(texts ...string) fstest.MapFS {
		fsys := fstest.MapFS{}
		for i, text := range texts {
			fsys["sql/"+string(rune('a'+i))+".sql"] = &fstest.MapFile{Data: []byte(text)}
		}
		return fsys
	}
	expand := Expander(func(name string) string { return "f_" + name })
	var into struct {
		SharedStatements
		Claim string `sql:"claim"`
	}
	const claim, count = "-- name: claim\n-- It claims.\nselect 1\nfrom {{job}};\n", "-- name: count\nselect 2\n"
	if err := LoadStatements(files(claim, count), expand, &into); err != nil || into.Claim != "select 1\nfrom f_job" || into.Count != "select 2" {
		t.Errorf("they are %+v: %v", into, err)
	}
	for want, fsys := range map[string]fstest.MapFS{
		`no statement named "count"`:             files(claim),
		`statement "more" is used by no field`:   files(claim, count, "-- name: more\nselect 3"),
		`a.sql: statement "claim" appears twice`: files(claim + claim + count),
		`b.sql: statement "claim" appears twice`: files(claim, claim+count),
	} {
		if err := LoadStatements(fsys, expand, &into); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
