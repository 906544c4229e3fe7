package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// keyOfPerson leaves gaps, and one very large one before the last of so many people.
func keyOfPerson(i, people int) int64 {
	if i == people-1 {
		return 1_000_000_000_000
	}
	return int64(7*i + i%3)
}

// fillPeople makes a table of people in a user's database.
func fillPeople(t *testing.T, people int, driver, address string) {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statements := []string{"CREATE TABLE people (id BIGINT PRIMARY KEY, name VARCHAR(40), age INTEGER)"}
	for i := 0; i < people; i += 1000 {
		var rows []string
		for j := i; j < i+1000; j++ {
			rows = append(rows, fmt.Sprintf("(%d, 'person %d', %d)", keyOfPerson(j, people), j, j%90))
		}
		statements = append(statements, "INSERT INTO people VALUES "+strings.Join(rows, ", "))
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// census is a target that counts who is sent to it.
type census struct {
	people int
	mu     sync.Mutex
	seen   map[int64]int
	odd    []string
}

func (c *census) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var sent struct {
		Items []struct {
			Index int64
			Data  struct {
				ID   int64
				Name string
				Age  *int
			}
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &sent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.odd = append(c.odd, err.Error())
	}
	for _, item := range sent.Items {
		c.seen[item.Index]++
		var n int
		if _, err := fmt.Sscanf(item.Data.Name, "person %d", &n); err != nil || keyOfPerson(n, c.people) != item.Index || item.Data.ID != item.Index || item.Data.Age == nil || *item.Data.Age != n%90 {
			c.odd = append(c.odd, fmt.Sprintf("%+v", item))
		}
	}
}

// untilSweep waits for a sweep's state.
func (s *served) untilSweep(t *testing.T, name, state string) map[string]any {
	t.Helper()
	var sweep map[string]any
	for begun := time.Now(); time.Since(begun) < patience.Limit; <-time.After(50 * time.Millisecond) {
		if sweep = s.send(t, "GET", "/api/v1/sweeps/"+name, ""); sweep["state"] == state {
			return sweep
		}
	}
	t.Fatalf("the sweep is never %s: %v", state, sweep)
	return nil
}

func TestASweepGoesOverTheRowsOfATable(t *testing.T) {
	t.Parallel()
	people := tier.Size(t, 3000, 50_000, "a table of many pages")
	for name, setUp := range map[string]func(t *testing.T) (location string){
		"SQLite": func(t *testing.T) string {
			file := filepath.Join(t.TempDir(), "crm.db")
			fillPeople(t, people, "sqlite", file)
			return "sqlite://" + file
		},
		"PostgreSQL": func(t *testing.T) string {
			location := testdb.Postgres(t)
			fillPeople(t, people, "pgx", location)
			return location
		},
		"MariaDB": func(t *testing.T) string {
			location := testdb.MySQL(t)
			config, err := mysqlurl.Parse(location)
			if err != nil {
				t.Fatal(err)
			}
			fillPeople(t, people, "mysql", config.FormatDSN())
			return location
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			location := setUp(t)
			secret, config := filepath.Join(t.TempDir(), "url"), filepath.Join(t.TempDir(), "fairlead.yaml")
			for file, text := range map[string]string{secret: location + "\n", config: "sweep_database:\n  the_crm: ${file:" + secret + "}\n"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			seen := &census{people: people, seen: map[int64]int{}}
			target := httptest.NewServer(seen)
			defer target.Close()
			node := startProcess(t, "--db", sqlitetest.URL(t), "--poll", "50ms", "--config", config)
			const table = `"source":{"table":{"database":"the_crm","name":"people","key":"id"}}`
			node.send(t, "POST", "/api/v1/sweeps", `{"name":"calls","kind":"http","args":{"url":"`+target.URL+`"},"per_call":200,"shards":3,"in_flight":12,`+table+`}`)
			node.send(t, "POST", "/api/v1/sweeps", `{"name":"quick","kind":"noop",`+table+`}`)
			for _, name := range []string{"calls", "quick"} {
				node.send(t, "POST", "/api/v1/sweeps/"+name+"/start", `{}`)
				sweep := node.untilSweep(t, name, "finished")
				if progress := sweep["progress"].(map[string]any); progress["done"] != fmt.Sprint(people) || progress["abandoned"] != "0" {
					t.Errorf("%s ended with %v", name, progress)
				}
			}
			seen.mu.Lock()
			defer seen.mu.Unlock()
			if len(seen.odd) > 0 {
				t.Fatalf("%d came oddly, the first as %s", len(seen.odd), seen.odd[0])
			}
			for i := range people {
				if n := seen.seen[keyOfPerson(i, people)]; n != 1 {
					t.Fatalf("person %d came %d times", i, n)
				}
			}
			if len(seen.seen) != people {
				t.Errorf("%d rows came", len(seen.seen))
			}
		})
	}
}

func TestADatabaseThatIsNotKnownIsRefused(t *testing.T) {
	t.Setenv("CRM_PASSWORD", "p@ss/w+rd 1")
	none := startServe(t, "--db", sqlitetest.URL(t))
	some := startServe(t, "--db", sqlitetest.URL(t),
		"--sweep-database", "crm=postgres://reader:${env:CRM_PASSWORD}@127.0.0.1:1/crm", "--sweep-database", "shop=sqlite:///nowhere/shop.db")
	for node, want := range map[*served]string{none: "no database is configured; add one with serve --sweep-database", some: "use one of crm, shop"} {
		sweep := `{"name":"x","kind":"noop","source":{"table":{"database":"erp","name":"people","key":"id"}}}`
		problem := node.refused(t, http.StatusBadRequest, "POST", "/api/v1/sweeps", sweep)
		if !strings.Contains(problem, `"source.table.database"`) || !strings.Contains(problem, want) {
			t.Errorf("it is refused as %s", problem)
		}
		node.send(t, "POST", "/api/v1/sweeps", strings.Replace(sweep, "noop", "elsewhere", 1)) // who runs it knows
		node.refused(t, http.StatusBadRequest, "PATCH", "/api/v1/sweeps/x", `{"kind":"noop"}`)
	}
	some.send(t, "POST", "/api/v1/sweeps", `{"name":"far","kind":"noop","source":{"table":{"database":"crm","name":"people","key":"id"}}}`)
	some.send(t, "POST", "/api/v1/sweeps/far/start", `{}`)
	reason := some.untilSweep(t, "far", "stopped")["reason"].(string)
	if !strings.Contains(reason, "database crm") || strings.Contains(reason, "rd") {
		t.Errorf("it stopped as %q", reason)
	}
	some.cancel()
	if code := <-some.exit; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if log := <-some.log; !strings.Contains(log, "database=crm") || !strings.Contains(log, "database=shop") || strings.Contains(log, "w+rd") || strings.Contains(log, "w%2Brd") {
		t.Errorf("the log is\n%s", log)
	}
}

// refused sends what must fail, and returns the answer.
func (s *served) refused(t *testing.T, status int, verb, path, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), verb, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != status {
		t.Fatalf("%s %s: %d, wanted %d: %s (%v)", verb, path, response.StatusCode, status, answer, err)
	}
	return string(answer)
}

func TestSettingsOfDatabasesThatAreNotUnderstood(t *testing.T) {
	t.Setenv("EMPTY", "")
	for setting, want := range map[string]string{
		"crm":                                   "use NAME=URL",
		"=sqlite://x":                           "use NAME=URL",
		"crm=oracle://u:hidden@h/x":             `database "crm": the URL must begin with`,
		"crm=postgres://u:hidden@h:port/x":      `database "crm": invalid URL`,
		"crm=postgres://u:hidden@h/x?sslmode=7": `database "crm"`,
		"crm=mysql://u:hidden@h":                "does not name a database",
		"crm=sqlite://":                         "must name a file",
		"crm=mysql://u:${env:EMPTY}@h/x":        "EMPTY is unset or empty",
		"crm=${file:/nowhere/secret}":           `"crm": open /nowhere/secret`,
		"crm=mysql://u:${hidden}@h/x":           "must be a reference",
	} {
		var stderr strings.Builder
		code := run(t.Context(), []string{"serve", "--db", "sqlite://:memory:", "--sweep-database", setting}, io.Discard, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), want) || strings.Contains(stderr.String(), "hidden") {
			t.Errorf("%s: exit %d, %s", setting, code, stderr.String())
		}
	}
}
