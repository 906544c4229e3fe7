package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/interleave"
)

// A resultFile holds the results of all pairs on one database.
type resultFile struct {
	file       string
	entries    map[string]entry
	exceptions string // identifies the exceptions
}

// exceptionsFile has the exceptions. Changes of it invalidate few results.
const exceptionsFile = "interleave/exceptions.go"

// An entry is the result of one pair.
type entry struct {
	Pair     string         `json:"pair"`
	Orders   int            `json:"orders"`
	Blocked  int            `json:"blocked"`
	Grouped  int            `json:"grouped,omitempty"`
	Excepted map[string]int `json:"excepted,omitempty"`
	Findings []string       `json:"findings,omitempty"`

	Bystanders bool `json:"bystanders,omitempty"` // the pair was not played, because neither actor changes anything

	Exceptions string `json:"exceptions"` // identifies the exceptions with which the pair was played
}

// openResultFile reads the results that were stored for the current code. Those that needed an
// exception, or lacked one, are left out if the exceptions have changed since.
func openResultFile(database string, switches int) (*resultFile, error) {
	state, err := fingerprint(database)
	if err != nil {
		return nil, err
	}
	exceptions, err := os.ReadFile(exceptionsFile)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join("bin", "prove", state)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := &resultFile{
		file: filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", database, switches)), entries: map[string]entry{},
		exceptions: fmt.Sprintf("%x", sha256.Sum256(exceptions))[:16],
	}
	file, err := os.Open(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil { // the last line may have been cut off
			l.entries[e.Pair] = e
			if e.Exceptions != l.exceptions && (len(e.Excepted) > 0 || len(e.Findings) > 0) {
				delete(l.entries, e.Pair)
			}
		}
	}
	return l, lines.Err()
}

// add stores the result of a pair.
func (l *resultFile) add(e entry) (err error) {
	e.Exceptions = l.exceptions
	l.entries[e.Pair] = e
	file, err := os.OpenFile(l.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	return errors.Join(err, file.Close())
}

// stores are the directories of the stores.
var stores = []string{"postgres", "mysql", "sqlite"}

// fingerprint identifies the code that the results on a database depend on: everything but
// tests, the other databases, the service, the console, the command line and measurements.
func fingerprint(database string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(stores, path) && path != database {
				return fs.SkipDir
			}
			if slices.Contains([]string{".git", "bin", "docs", "console", "server", "cmd", "bench", "tests", "tools", "sim", "deploy", "examples", "storetest", "api"}, path) {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".sql" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "interleave/prove/") || path == exceptionsFile {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if content, err = withoutComments(path, content); err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", path, len(content))
		sum.Write(content)
		return nil
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), err
}

// withoutComments returns the code of a file, which results depend on.
func withoutComments(path string, content []byte) ([]byte, error) {
	var code bytes.Buffer
	if filepath.Ext(path) == ".sql" {
		for line := range bytes.Lines(content) {
			if !bytes.HasPrefix(line, []byte("--")) {
				code.Write(line)
			}
		}
		return code.Bytes(), nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	err = printer.Fprint(&code, files, parsed)
	return code.Bytes(), err
}

// prove plays all pairs on a database that have no result yet.
func prove(ctx context.Context, database string, o options) (*resultFile, error) {
	l, err := openResultFile(database, o.switches)
	if err != nil {
		return nil, err
	}
	var left []interleave.Pair
	all := 0
	for _, pair := range interleave.Pairs() {
		if !strings.Contains(pair.String(), o.match) {
			continue
		}
		all++
		if _, done := l.entries[pair.String()]; !done {
			left = append(left, pair)
		}
	}
	if len(left) == 0 {
		return l, l.findings()
	}
	fmt.Printf("%s: %d pairs, %d of them done earlier\n", database, all, all-len(left))
	stage, end, err := open(ctx, database)
	if err != nil {
		return l, err
	}
	told := time.Now()
	bystanders := map[string]map[string]bool{}
	for i, pair := range left {
		subject := pair.Subject.Name
		if bystanders[subject] == nil {
			if bystanders[subject], err = stage.Bystanders(ctx, pair.Subject); err != nil {
				return l, errors.Join(err, end())
			}
		}
		if bystanders[subject][pair.Actors[0].Name] && bystanders[subject][pair.Actors[1].Name] {
			if err := l.add(entry{Pair: pair.String(), Bystanders: true}); err != nil {
				return l, errors.Join(err, end())
			}
			continue
		}
		outcome, err := stage.Explore(ctx, pair, o.switches)
		switch {
		case err != nil && ctx.Err() != nil:
			return l, errors.Join(err, end())
		case err != nil:
			// The actors are stuck, or the store has failed: a new stage plays the other pairs.
			outcome.Findings = append(outcome.Findings, interleave.Finding{Pair: pair, What: err.Error()})
			_ = end()
			if stage, end, err = open(ctx, database); err != nil {
				return l, err
			}
		}
		e := entry{Pair: pair.String(), Orders: outcome.Orders, Blocked: outcome.Blocked, Grouped: outcome.Grouped, Excepted: outcome.Excepted}
		for _, f := range outcome.Findings {
			e.Findings = append(e.Findings, f.String())
			fmt.Printf("%s: %v\n", database, f)
		}
		if err := l.add(e); err != nil {
			return l, errors.Join(err, end())
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Printf("%s: %d of %d pairs\n", database, all-len(left)+i+1, all)
		}
	}
	return l, errors.Join(l.findings(), end())
}

// findings returns an error if an order has a result that nothing explains.
func (l *resultFile) findings() error {
	n := 0
	for _, e := range l.entries {
		n += len(e.Findings)
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%d orders have a result that no serial order has: see %s", n, l.file)
}
