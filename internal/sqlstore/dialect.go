package sqlstore

import (
	"embed"
	"regexp"
	"strconv"
	"strings"
)

// common holds the statements that all databases execute alike. Those that lock rows in a
// certain order, or that need a certain plan, are written for each database.
//
// Common statements are SQL for PostgreSQL, with these differences:
//
//   - An argument is "?::bigint", in the order in which callers pass them, or "?2::bigint"
//     if the order differs or an argument is used twice.
//   - "x in (?::bigint[])" compares with each value of a List.
//   - "{{new_token}}" is a new ID for a row of the table token.
//   - "(select {{now}})" is the clock, read once by PostgreSQL; the others always read it once.
//   - "/*! force index (primary) */" behind a table is a hint for MySQL.
//
//go:embed sql/*.sql
var common embed.FS

// A Dialect translates a common statement for one database.
type Dialect func(statement string) string

const (
	clock     = "{{now}}"
	clockRead = "(select {{now}})"
)

var (
	argument   = regexp.MustCompile(`\?(\d*)`)
	listMember = regexp.MustCompile(` in \((\?\d*)(::\w+\[\])\)`)
	cast       = regexp.MustCompile(`::\w+(\[\])?`)
	hint       = regexp.MustCompile(` /\*! (.*?) \*/`)
	newID      = regexp.MustCompile(`\{\{new_\w+\}\}`)

	hintedDelete = regexp.MustCompile(`^delete from (\{\{\w+\}\}) /\*! (.*?) \*/`)
	bigSum       = regexp.MustCompile(`sum\(([\w.]+)\)::bigint`)
	unlessExists = regexp.MustCompile(`(?s)^insert (into .*)\s+on conflict( \([\w, ]+\))? do nothing$`)
	orReplace    = regexp.MustCompile(`on conflict \([\w, ]+\) do update set`)
	excluded     = regexp.MustCompile(`\bexcluded\.(\w+)`)
	quotient     = regexp.MustCompile(` / (\{\{|\d)`)

	bound    = regexp.MustCompile(`\b(limit|offset) \?`)
	greatest = regexp.MustCompile(`\bgreatest\(`)
)

// PostgreSQL translates a common statement for PostgreSQL.
func PostgreSQL(statement string) string {
	statement = hint.ReplaceAllString(statement, "")
	statement = listMember.ReplaceAllString(statement, " = any ($1$2)")
	statement = newID.ReplaceAllString(statement, "default")
	return numbered(statement, "$")
}

// MySQL translates a common statement for MariaDB and MySQL. The store fills in lists, and
// the marks of inserts that may find an existing row.
func MySQL(statement string) string {
	statement = bigSum.ReplaceAllString(statement, "cast(sum($1) as signed)")
	statement = listMember.ReplaceAllString(statement, " in ({{list}})")
	statement = cast.ReplaceAllString(statement, "")
	statement = hintedDelete.ReplaceAllString(statement, "delete old from $1 old $2")
	statement = hint.ReplaceAllString(statement, " $1")
	statement = unlessExists.ReplaceAllString(statement, "insert {{unless_taken}} $1")
	statement = orReplace.ReplaceAllString(statement, "on duplicate key update")
	statement = excluded.ReplaceAllString(statement, "values($1)")
	statement = quotient.ReplaceAllString(statement, " div $1")
	statement = strings.ReplaceAll(statement, clockRead, clock)
	return newID.ReplaceAllString(statement, "null") // the default is 0 in sessions with no_auto_value_on_zero
}

// SQLite translates a common statement for SQLite. It numbers the arguments, because the
// store appends arguments of its own. A plain limit would be planned again for each value.
func SQLite(statement string) string {
	statement = hint.ReplaceAllString(statement, "")
	statement = listMember.ReplaceAllString(statement, " in (select value from json_each($1))")
	statement = cast.ReplaceAllString(statement, "")
	statement = bound.ReplaceAllString(statement, "$1 0 + ?")
	statement = greatest.ReplaceAllString(statement, "max(")
	statement = strings.ReplaceAll(statement, clockRead, clock)
	return numbered(statement, "?")
}

// numbered numbers the arguments of a statement that does not number them itself.
func numbered(statement, sign string) string {
	count := 0
	return argument.ReplaceAllStringFunc(statement, func(found string) string {
		if number := strings.TrimPrefix(found, "?"); number != "" {
			return sign + number
		}
		count++
		return sign + strconv.Itoa(count)
	})
}
