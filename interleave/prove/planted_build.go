package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A program has a bug: this program, or the tests of a store.
type program struct {
	path string
	dir  string // where it runs
	env  []string
}

// run runs the program and returns its output.
func (p *program) run(ctx context.Context, arguments ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	command := exec.CommandContext(ctx, p.path, arguments...)
	command.Dir, command.Env, command.Stdout, command.Stderr = p.dir, append(os.Environ(), p.env...), &out, &errs
	err = command.Run()
	return out.String(), errs.String(), err
}

// statementsFrom is the variable that names the directory from which a store reads its
// statements, in programs that are built for bugs in statements.
const statementsFrom = "FAIRLEAD_PLANTED_STATEMENTS"

// build returns a program with the bug, in a directory of its own below the given one. Bugs in
// statements of PostgreSQL and MySQL need no program of their own: one program for each store reads its statements from a directory. The program consists of the tests of
// a package, if one is named.
func (b *bug) build(ctx context.Context, below, tests string) (*program, error) {
	p := &program{dir: "."}
	kind, what := "prove", []string{"build", "./interleave/prove"}
	if tests != "" {
		p.dir, kind, what = tests, tests+"-test", []string{"test", "-c", "-vet=off", "./" + tests}
	}
	dir, err := filepath.Abs(filepath.Join(below, b.Database+"-"+kind))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	content, err := b.planted()
	if err != nil {
		return nil, err
	}
	changed := map[string]string{b.File: content}
	if filepath.Ext(b.File) == ".sql" && embedding[b.Database] != "" {
		p.env = []string{statementsFrom + "=" + dir}
		if err := copyStatements(b, content, dir); err != nil {
			return nil, err
		}
		if changed, err = readsStatements(b.Database); err != nil {
			return nil, err
		}
	}
	overlay, err := overlay(dir, changed)
	if err != nil {
		return nil, err
	}
	p.path = filepath.Join(dir, kind)
	arguments := append([]string{what[0], "-overlay", overlay, "-o", p.path}, what[1:]...)
	if output, err := exec.CommandContext(ctx, "go", arguments...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	return p, nil
}

// copyStatements copies the statements of a store, with the bug.
func copyStatements(b *bug, content, to string) error {
	for _, pattern := range []string{"sql/*.sql", "migrations/*.sql"} {
		files, err := filepath.Glob(filepath.Join(b.Database, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if file == b.File {
				text = []byte(content)
			}
			copied := filepath.Join(to, strings.TrimPrefix(file, b.Database))
			if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(copied, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// embedded is the variable with the statements of a store. embedding names the files that have it, of
// stores with many bugs in statements.
const embedded = "//go:embed sql/*.sql migrations/*.sql\nvar files embed.FS\n"

var embedding = map[string]string{"postgres": "postgres/statements.go", "mysql": "mysql/store.go"}

// readsStatements lets a store read its statements from the directory that the variable names.
func readsStatements(database string) (map[string]string, error) {
	file := embedding[database]
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(content), embedded) {
		return nil, fmt.Errorf("%s does not embed the statements as expected: adapt the tool", file)
	}
	return map[string]string{
		file: strings.Replace(string(content), embedded, "var _ embed.FS\n\nvar files = plantedStatements()\n", 1),
		database + "/planted_statements.go": fmt.Sprintf("package %s\n\nimport (\n\t\"io/fs\"\n\t\"os\"\n)\n\nfunc plantedStatements() fs.FS { return os.DirFS(os.Getenv(%q)) }\n",
			database, statementsFrom),
	}, nil
}

// overlay writes changed files, and the list that makes the compiler use them.
func overlay(dir string, changed map[string]string) (string, error) {
	replace := map[string]string{}
	for file, content := range changed {
		at, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[at] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(replace[at], []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}
