package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is a platform for which the program is built.
type target struct{ os, arch string }

var targets = []target{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// buildFlags exclude the paths of this machine, symbols, and information from git. The
// version and the commit are passed explicitly, so that a source tree without git produces
// the same program.
var buildFlags = []string{"-trimpath", "-buildvcs=false"}

// linkFlags returns the linker flags that set the version and the commit.
func linkFlags(version, commit string) string {
	return "-s -w -X main.version=" + version + " -X main.commit=" + commit
}

// release specifies what to build and where to write it.
type release struct {
	source          string // directory of the module
	pkg, name       string
	version, commit string
	time            time.Time // time of the commit
	out             string
	targets         []target
	say             func(line string)
}

// make builds all programs, their bills and the checksums into an empty directory.
func (r release) make(ctx context.Context) error {
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var files []string
	for _, t := range r.targets {
		file := fmt.Sprintf("%s_%s_%s_%s", r.name, r.version, t.os, t.arch)
		program := file
		if t.os == "windows" {
			program += ".exe"
		}
		r.say(program)
		if err := r.build(ctx, t, filepath.Join(out, program)); err != nil {
			return err
		}
		list, err := r.list(filepath.Join(out, program))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, file+".cdx.json"), list, 0o644); err != nil {
			return err
		}
		files = append(files, program, file+".cdx.json")
	}
	return writeSums(out, files)
}

// build compiles the program for a platform. It sets everything that affects the result,
// regardless of the environment.
func (r release) build(ctx context.Context, t target, file string) error {
	args := slices.Concat([]string{"build"}, buildFlags, []string{"-ldflags=" + linkFlags(r.version, r.commit), "-o", file, r.pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s/%s: %w\n%s", t.os, t.arch, err, out)
	}
	return nil
}

// list returns the bill of a program, from the information in the program itself.
func (r release) list(program string) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sum, err := sumOf(program)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(bill(r, info, sum)); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// sumOf returns the SHA-256 of a file.
func sumOf(file string) (sum [sha256.Size]byte, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return sum, err
	}
	return sha256.Sum256(raw), nil
}

// writeSums writes the file for "sha256sum --check SHA256SUMS".
func writeSums(dir string, files []string) error {
	var lines strings.Builder
	for _, file := range slices.Sorted(slices.Values(files)) {
		sum, err := sumOf(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", hex.EncodeToString(sum[:]), file)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
