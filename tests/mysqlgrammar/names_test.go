package mysqlgrammar

import (
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// A grammar accepts any name for a function, a variable or a table of information_schema.
// These exist in MySQL since 8.0.13 at the latest, according to its manual.
var known = strings.Fields(`
	coalesce() concat_ws() convert_tz() get_lock() find_in_set() greatest() if() is_used_lock() last_insert_id() least() left() nullif() release_lock() sysdate()
	timestampdiff() unhex() version()
	@@hostname @@port @@server_uuid @@time_zone @@version_comment
	information_schema.innodb_trx information_schema.processlist information_schema.tables`)

// ofGalera is used only on Galera clusters, which the store detects beforehand.
const ofGalera = "@@wsrep_node_name"

func TestEveryNameExistsInMySQL(t *testing.T) {
	seen := &names{}
	for name, text := range statements(t) {
		nodes, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, node := range nodes {
			node.Accept(seen)
		}
	}
	for _, name := range seen.found {
		if name != ofGalera && !slices.Contains(known, name) {
			t.Errorf("%s is used: look it up in the manual of MySQL 8.0 and add it to known", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(seen.found, name) {
			t.Errorf("%s is in known, and no statement uses it", name)
		}
	}
}

// names is a visitor that records the server's names used by a statement.
type names struct{ found []string }

// Enter implements ast.Visitor.
func (v *names) Enter(node ast.Node) (ast.Node, bool) {
	switch n := node.(type) {
	case *ast.FuncCallExpr:
		if n.FnName.L != ast.TimestampLiteral {
			v.add(n.FnName.L + "()")
		}
	case *ast.VariableExpr:
		if n.IsSystem {
			v.add("@@" + n.Name)
		}
	case *ast.TableName:
		if n.Schema.L == "information_schema" {
			v.add(n.Schema.L + "." + n.Name.L)
		}
	}
	return node, false
}

// Leave implements ast.Visitor.
func (v *names) Leave(node ast.Node) (ast.Node, bool) { return node, true }

func (v *names) add(name string) {
	if !slices.Contains(v.found, name) {
		v.found = append(v.found, name)
	}
}

func TestWhatOnlyMariaDBTakesIsNoticed(t *testing.T) {
	for _, text := range []string{
		"insert into t (a) values (1) returning id",
		"delete from t where a = 1 returning id",
		"alter table t add column if not exists a int",
		"create index if not exists i on t (a)",
		"drop index if exists i on t",
		"select a from t where a = 1 for update wait 5",
		"select a from t lock in share mode skip locked",
		"create sequence s",
		"select next value for s",
		"create or replace table t (a int)",
		"select rows from t",
		"select a from json_table('[1]', '$[*]' columns (a int path '$'))",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("this is taken for MySQL: %s", text)
		}
	}
	for _, text := range []string{
		"select a from t where a = 1 for update skip locked",
		"select a from t where a = 1 lock in share mode",
		"select 'returning', `rows` from t",
		"create table if not exists t (a int)",
		"select v.a from json_table(_utf8mb4'[1]', '$[*]' columns (a int path '$')) v",
	} {
		if _, err := parse(text); err != nil {
			t.Errorf("this is MySQL: %s: %v", text, err)
		}
	}
}
