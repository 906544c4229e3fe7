package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// area is a part of the code with the packages whose tests protect it.
type area struct {
	name       string
	statements string   // directory of a store, if its statements are mutated
	files      []string // patterns of Go files
	kinds      []string // kinds of mutations; empty = all
	tests      []string // packages
}

var areas = []area{
	{name: "postgres", statements: "postgres", tests: []string{"postgres"}},
	{name: "mysql", statements: "mysql", tests: []string{"mysql"}},
	{name: "sqlite", statements: "sqlite", tests: []string{"sqlite"}},
	{
		name: "decisions",
		files: []string{
			"schedule/*.go", "batch/*.go", "sweep/*.go", "assign.go", "outcome.go", "retry.go", "limit.go",
			"internal/dispatch/*.go", "internal/window/*.go", "internal/pace/*.go", "internal/verdict/*.go", "internal/starts/*.go",
			"internal/sqlstore/*.go", "sqlite/settle.go", "mysql/settle.go", "mysql/become.go", "sqlite/become.go",
		},
		tests: []string{
			".", "schedule", "batch", "sweep", "internal/dispatch", "internal/window", "internal/pace", "internal/verdict", "internal/starts", "internal/sqlstore",
			"sqlite", "engine", "mysql",
		},
	},
	{name: "engine", files: []string{"engine/*.go"}, tests: []string{"engine"}},
	{
		name:  "server",
		files: []string{"server/*.go", "server/internal/*/*.go", "internal/wire/*.go"},
		kinds: []string{"branch", "operand", "bound", "call"},
		tests: []string{"server", "server/internal/audit", "server/internal/authn", "server/internal/callbacks", "server/internal/overload", "server/internal/pipeline", "server/internal/scope", "server/internal/upload", "server/internal/workers", "internal/wire", "server/internal/rest"},
	},
}

// protects reports whether the tests of a package run for an area.
func (a *area) protects(pkg string) bool { return slices.Contains(a.tests, pkg) }

// goFiles returns the files of an area, without tests and generated files.
func (a *area) goFiles(root string) ([]string, error) {
	var files []string
	for _, pattern := range a.files {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			if !strings.HasSuffix(name, "_test.go") && path.Base(name) != "doc.go" {
				files = append(files, filepath.ToSlash(name))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// read reads a file of the repository.
func read(root, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	return string(text), err
}
