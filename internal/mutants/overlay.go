package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// workshop builds programs with mutants.
type workshop struct {
	root string // root of the repository
	dir  string // directory for stored results

	mu      sync.Mutex
	drawing map[string]bool // packages with randomized tests
}

func (w *workshop) overlay() string          { return filepath.Join(w.dir, "overlay.json") }
func (w *workshop) binary(pkg string) string { return filepath.Join(w.dir, "tests", slug(pkg)+".test") }

func slug(pkg string) string {
	if pkg == "." {
		return "root"
	}
	return strings.ReplaceAll(pkg, "/", "_")
}

// assemble surveys the repository and builds the tests of packages with all mutants. It
// leaves out places that do not compile when mutated.
func (w *workshop) assemble(ctx context.Context, packages []string) (*project, error) {
	refuse := map[int]bool{}
	for {
		p, err := survey(w.root, refuse)
		if err != nil {
			return nil, err
		}
		if err := w.write(p); err != nil {
			return nil, err
		}
		complaints, err := w.build(ctx, packages)
		if err == nil {
			return p, nil
		}
		before := len(refuse)
		p.blame(complaints, refuse)
		if len(refuse) == before {
			return nil, fmt.Errorf("%w\n%s", err, complaints)
		}
	}
}

// write writes the modified sources, and the mapping from the original files.
func (w *workshop) write(p *project) error {
	replace := map[string]string{}
	for name, s := range p.sources {
		text := s.rewritten()
		if text == s.text {
			continue
		}
		file := filepath.Join(w.dir, "sources", name+".txt") // so that other tools do not treat it as Go
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return err
		}
		if old, err := os.ReadFile(file); err != nil || string(old) != text {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return err
			}
		}
		replace[filepath.Join(w.root, name)] = file
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(w.overlay(), text, 0o600)
}

// build builds the tests of packages.
func (w *workshop) build(ctx context.Context, packages []string) (complaints string, err error) {
	if err := os.MkdirAll(filepath.Join(w.dir, "tests"), 0o750); err != nil {
		return "", err
	}
	for _, pkg := range packages {
		var out bytes.Buffer
		command := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", w.overlay(), "-gcflags=-e", "-o", w.binary(pkg), "./"+pkg)
		command.Dir, command.Stdout, command.Stderr = w.root, &out, &out
		if err := command.Run(); err != nil {
			return out.String(), fmt.Errorf("build the tests of %s: %w", pkg, err)
		}
	}
	return "", nil
}

var complaint = regexp.MustCompile(`(?m)^(?:\./)?([\w./-]+\.go(?:\.txt)?):(\d+):\d+: `)

// blame excludes the places in the lines that the compiler rejects.
func (p *project) blame(complaints string, refuse map[int]bool) {
	for _, match := range complaint.FindAllStringSubmatch(complaints, -1) {
		line, err := strconv.Atoi(match[2])
		if err != nil {
			continue
		}
		for name, s := range p.sources {
			if !strings.HasSuffix(match[1], name) && !strings.HasSuffix(match[1], name+".txt") {
				continue
			}
			for _, at := range s.places {
				if at.line <= line && line <= at.line+strings.Count(s.raw(at.node), "\n") {
					refuse[at.number] = true
				}
			}
		}
	}
}
