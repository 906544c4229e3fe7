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

// statementFiles returns a store's directory with the given files.
func statementFiles(texts ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, text := range texts {
		fsys["sql/"+string(rune('a'+i))+".sql"] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestStatementsAndFieldsBelongTogether(t *testing.T) {
	expand := Expander(func(name string) string { return "f_" + name })
	var into struct {
		SharedStatements
		Claim string `sql:"claim"`
	}
	load := func(fsys fstest.MapFS) error {
		found, err := parseStatements(fsys)
		if err != nil {
			return err
		}
		return fillAll(found, expand, &into)
	}
	const claim, count = "-- name: claim\n-- It claims.\nselect 1\nfrom {{job}};\n", "-- name: count\nselect 2\n"
	if err := load(statementFiles(claim, count)); err != nil || into.Claim != "select 1\nfrom f_job" || into.Count != "select 2" {
		t.Errorf("they are %+v: %v", into, err)
	}
	for want, fsys := range map[string]fstest.MapFS{
		`no statement named "count"`:             statementFiles(claim),
		`statement "more" is used by no field`:   statementFiles(claim, count, "-- name: more\nselect 3"),
		`a.sql: statement "claim" appears twice`: statementFiles(claim + claim + count),
		`b.sql: statement "claim" appears twice`: statementFiles(claim, claim+count),
	} {
		if err := load(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
