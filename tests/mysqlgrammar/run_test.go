package mysqlgrammar

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// Many of the store's statements are built at run time: lists, filters, bundles. The test
// therefore runs the contract on MariaDB, which logs all statements, and parses each of
// them. It omits cases that only send the same statements more often.
func TestEveryStatementOfTheContractIsMySQL(t *testing.T) {
	tier.Long(t, "runs the contract on a server of its own, which takes minutes")
	server, err := testdb.StartMySQL(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) && !testdb.Required() {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	db := connect(t, server.URL())
	for _, statement := range []string{"set global log_output = 'TABLE'", "set global general_log = 1"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	contract := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=30m", "-run=^TestStore$", "-skip=/^(Model.*|Contention|Batches|Locked)$", "./mysql")
	contract.Dir = "../.."
	contract.Env = append(os.Environ(), testdb.MySQLEnv+"="+server.URL(), testdb.PostgresEnv+"="+testdb.Unavailable)
	if output, err := contract.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if _, err := db.ExecContext(t.Context(), "set global general_log = 0"); err != nil {
		t.Fatal(err)
	}
	forms := formsOf(t, db)
	if len(forms) < 400 {
		t.Errorf("only %d statements were logged", len(forms))
	}
	t.Logf("%d forms of statements", len(forms))
	for form, text := range forms {
		if _, err := parse(text); err != nil {
			t.Errorf("%v\n%s", err, form)
		}
	}
}

func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	config, err := mysqlurl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// values matches the parts that differ between statements of the same form.
var values = regexp.MustCompile(`x'[0-9a-f]*'|'[^']*'|\b\d+\b|\b(?:v,)+v\b`)

// lockWaits is a statement of the test suite, which the parser does not support. The suite
// uses it to find statements of the store that wait for locks.
const lockWaits = "show engine innodb status"

// formsOf returns one logged statement of each form.
func formsOf(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "select argument from mysql.general_log where command_type in ('Query', 'Prepare')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	forms := map[string]string{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if text == lockWaits {
			continue
		}
		form := values.ReplaceAllString(values.ReplaceAllString(text, "v"), "v")
		forms[strings.Join(strings.Fields(form), " ")] = text
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return forms
}
