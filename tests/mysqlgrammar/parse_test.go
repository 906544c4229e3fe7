package mysqlgrammar

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser"
	"github.com/pingcap/tidb/pkg/parser/ast"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver" // implements literals, which the parser itself does not
)

// Constructs that MySQL supports and the parser does not. Their form is checked, and they
// are then replaced.
var (
	// jsonTable is a call with the only path and the kinds of columns that the store uses.
	// MySQL requires an alias.
	jsonTable   = regexp.MustCompile(`json_table\(_utf8mb4'\[[^']*\]', '\$\[\*\]' columns \(\s*` + jsonColumn + `(?:,\s*` + jsonColumn + `)*\s*\)\)\s+([a-z]\w*)`)
	intoSession = regexp.MustCompile(`\binto @\w+`)
	// numberedArgument becomes a plain question mark in the store; see unnumber there.
	numberedArgument = regexp.MustCompile(`\?\d+`)
)

const jsonColumn = `\w+ (?:for ordinality|(?:int|smallint|bigint|double|varchar\(\d+\)) path '\$(?:\[\d+\])?')`

// extensions are constructs that the parser accepts although MySQL does not.
var extensions = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`\b(?:column|index|key|constraint|add|drop) if (?:not )?exists\b|\bcreate view if not exists\b`), "MySQL has IF EXISTS for whole tables, and for views that are dropped"},
	{regexp.MustCompile(`\bfor (?:update|share) wait \d`), "MySQL has NOWAIT and SKIP LOCKED, but no time to wait"},
	{regexp.MustCompile(`\block in share mode (?:skip|nowait)\b`), "MySQL has these options for FOR SHARE only, which MariaDB does not know"},
	{regexp.MustCompile(`\b(?:create|drop|alter) sequence\b|\bnext value for\b|\b(?:nextval|lastval|setval)\(`), "MySQL has no sequences"},
	{regexp.MustCompile(`\breturning\b`), "MySQL has no RETURNING"},
}

// reserved matches words that are reserved since MySQL 8.0 and must not be names in the
// store. The parser does not reserve all of them.
var reserved = regexp.MustCompile(`\b(?:cube|cume_dist|dense_rank|empty|except|first_value|function|grouping|groups|intersect|lag|last_value|lateral|lead|library|manual|` +
	`nth_value|ntile|over|parallel|percent_rank|qualify|rank|recursive|row_number|rows|system|tablesample|window)\b`)

var quoted = regexp.MustCompile("`[^`]*`|'(?:[^'\\\\]|''|\\\\.)*'")

// parse returns the statements in a text. It returns an error if the text is not valid in
// MySQL 8.
func parse(text string) ([]ast.StmtNode, error) {
	plain := jsonTable.ReplaceAllString(text, "(select 1 as id) $1")
	if strings.Contains(plain, "json_table") {
		return nil, fmt.Errorf("a json_table of another form than %s", jsonTable)
	}
	plain = intoSession.ReplaceAllString(plain, "")
	plain = numberedArgument.ReplaceAllString(plain, "?")
	words := strings.ToLower(quoted.ReplaceAllString(plain, "''"))
	for _, extension := range extensions {
		if found := extension.form.FindString(words); found != "" {
			return nil, fmt.Errorf("%q: %s", found, extension.why)
		}
	}
	if found := reserved.FindString(words); found != "" {
		return nil, fmt.Errorf("%q is a reserved word of MySQL", found)
	}
	nodes, _, err := parser.New().ParseSQL(plain)
	return nodes, err
}
