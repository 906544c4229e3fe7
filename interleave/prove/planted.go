package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fairlead-io/fairlead/interleave"
)

// A verdict says whether the pairs found a planted bug.
type verdict struct {
	Bug   string `json:"bug"`
	Found string `json:"found"` // the first finding; empty if there was none
}

// plant builds this program with each matching bug, and plays the pairs that should find it.
// It returns an error if a bug remains unnoticed.
func plant(ctx context.Context, match string) (verdicts []verdict, err error) {
	dir, err := filepath.Abs(filepath.Join("bin", "prove", "planted"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range interleave.Bugs() {
		bug := &interleave.Bugs()[i]
		if !strings.Contains(bug.Name, match) {
			continue
		}
		found, plantErr := try(ctx, dir, bug)
		if plantErr != nil {
			err = errors.Join(err, fmt.Errorf("bug %q: %w", bug.Name, plantErr))
			continue
		}
		fmt.Printf("bug %q: %s\n", bug.Name, found)
		verdicts = append(verdicts, verdict{Bug: bug.Name, Found: found})
	}
	return verdicts, err
}

// try returns the first order that finds a bug.
func try(ctx context.Context, dir string, bug *interleave.Bug) (string, error) {
	overlay, err := overlay(dir, bug)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "prove")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./interleave/prove")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	play := exec.CommandContext(ctx, program, "-database", bug.Database, "-match", bug.Pairs, "-first")
	output, err := play.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", errors.New("no order finds it")
	case !errors.As(err, &exit):
		return "", err
	}
	for line := range strings.Lines(string(output)) {
		if text, finding := strings.CutPrefix(line, findingPrefix); finding {
			return strings.TrimSpace(text), nil
		}
	}
	return "", fmt.Errorf("%w: %s", err, exit.Stderr)
}

// overlay writes the file with the bug, and the list that makes the compiler use it.
func overlay(dir string, bug *interleave.Bug) (string, error) {
	content, err := os.ReadFile(bug.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(content), bug.Was); n != 1 {
		return "", fmt.Errorf("%s has the text to replace %d times, want once: adapt the catalogue", bug.File, n)
	}
	at, err := filepath.Abs(bug.File)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, strings.ReplaceAll(bug.File, "/", "_"))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(content), bug.Was, bug.Is, 1)), 0o644); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {at: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o644)
}
