package sqlstore

import (
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
)

// Expander returns the text that replaces {{name}} in a statement: the qualified, quoted name
// of a table or, for "now", the database clock in microseconds.
type Expander func(name string) string

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// constants maps names to values that are the same in all stores.
var constants = map[string]string{
	"alert_bucket":  strconv.FormatInt(alert.Bucket.Microseconds(), 10),
	"never":         strconv.FormatInt(Micros(fairlead.Never), 10),
	"hold_open":     strconv.FormatInt(holdOpen, 10),
	"once_window":   strconv.FormatInt(fairlead.OnceWindow.Microseconds(), 10),
	"starts_bucket": strconv.FormatInt(startsBucket.Microseconds(), 10),
	"starts_window": strconv.FormatInt(fairlead.UsageWindow.Microseconds(), 10),
}

func (e Expander) expand(sql string) string {
	return placeholder.ReplaceAllStringFunc(sql, func(m string) string {
		name := m[2 : len(m)-2]
		if constant, ok := constants[name]; ok {
			return constant
		}
		return e(name)
	})
}

// LoadStatements sets the string fields of *into to the statements of a store, see
// Statements. It sets a field tagged sql:"claim" to the statement claim. It returns an error
// for a field without a statement and for a statement without a field, so neither side keeps
// unused names. The fields of embedded structs count as fields of *into, so shared
// statements have the same names in all stores.
func LoadStatements(fsys fs.FS, dialect Dialect, expand Expander, into any) error {
	found, err := Statements(fsys, dialect)
	if err != nil {
		return err
	}
	return fillAll(found, expand, into)
}

func fillAll(found map[string]string, expand Expander, into any) error {
	if err := fillStatements(reflect.ValueOf(into).Elem(), expand, found); err != nil {
		return err
	}
	for name := range found {
		return fmt.Errorf("statement %q is used by no field of %T", name, into)
	}
	return nil
}

// fillStatements sets the fields of a struct from the parsed statements.
func fillStatements(target reflect.Value, expand Expander, found map[string]string) error {
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if field.Anonymous {
			if err := fillStatements(target.Field(i), expand, found); err != nil {
				return err
			}
			continue
		}
		name := field.Tag.Get("sql")
		text, ok := found[name]
		if !ok {
			return fmt.Errorf("no statement named %q for field %s", name, field.Name)
		}
		target.Field(i).SetString(expand.expand(text))
		delete(found, name)
	}
	return nil
}

// Statements returns the statements of a store by name: its own, in the files sql/*.sql of
// fsys, and the common ones in its dialect. A statement follows the line "-- name: claim".
func Statements(fsys fs.FS, dialect Dialect) (map[string]string, error) {
	all, err := parseStatements(common)
	if err != nil {
		return nil, err
	}
	for name, text := range all {
		all[name] = dialect(text)
	}
	own, err := parseStatements(fsys)
	if err != nil {
		return nil, err
	}
	for name, text := range own {
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("statement %q is also a common one", name)
		}
		all[name] = text
	}
	return all, nil
}

func parseStatements(fsys fs.FS) (map[string]string, error) {
	files, err := fs.Glob(fsys, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, file := range files {
		found, err := ReadStatements(fsys, file)
		if err != nil {
			return nil, err
		}
		for name, text := range found {
			if _, twice := all[name]; twice {
				return nil, fmt.Errorf("%s: statement %q appears twice", file, name)
			}
			all[name] = text
		}
	}
	return all, nil
}

// ReadStatements returns the statements in a file by name, without comments.
func ReadStatements(fsys fs.FS, file string) (map[string]string, error) {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	found, name := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "-- name:"); ok {
			name = strings.TrimSpace(rest)
			if _, twice := found[name]; twice {
				return nil, fmt.Errorf("%s: statement %q appears twice", file, name)
			}
			found[name] = ""
			continue
		}
		if name == "" || strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		found[name] += line
	}
	for name, text := range found {
		found[name] = strings.TrimSuffix(strings.TrimSpace(text), ";")
	}
	return found, nil
}

// Migration is a numbered schema change, which consists of a list of statements.
type Migration struct {
	Version int
	Name    string
	Steps   []string
}

// String returns the migration's name as it appears in the file name.
func (m Migration) String() string { return fmt.Sprintf("%04d_%s", m.Version, m.Name) }

var migrationFile = regexp.MustCompile(`^migrations/(\d{4})_(\w+)\.sql$`)

// LoadMigrations reads the files migrations/NNNN_name.sql in order. A statement ends with a
// semicolon at the end of a line.
func LoadMigrations(fsys fs.FS, expand Expander) ([]Migration, error) {
	files, err := fs.Glob(fsys, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var migrations []Migration
	for i, file := range files {
		parts := migrationFile.FindStringSubmatch(file)
		if parts == nil || parts[1] != fmt.Sprintf("%04d", i+1) {
			return nil, fmt.Errorf("%s: invalid migration file name; names must be NNNN_name.sql, numbered without gaps", file)
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		migrations = append(migrations, Migration{Version: i + 1, Name: parts[2], Steps: splitSteps(expand.expand(string(text)))})
	}
	return migrations, nil
}

func splitSteps(text string) []string {
	var steps []string
	var step strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "--") {
			continue
		}
		step.WriteString(line)
		if strings.HasSuffix(trimmed, ";") {
			steps = append(steps, strings.TrimSuffix(strings.TrimSpace(step.String()), ";"))
			step.Reset()
		}
	}
	return steps
}
