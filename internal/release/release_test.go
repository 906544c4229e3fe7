package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// tiny creates a module, in a directory of its own, with a program that prints its version
// and commit.
func tiny(t *testing.T) release {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/tiny\n\ngo 1.26\n",
		"main.go": "package main\n\nvar version, commit string\n\nfunc main() { println(version, commit) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return release{
		source: dir, pkg: ".", name: "tiny", version: "v1.2.3", commit: "0123abc", time: time.Unix(1_700_000_000, 0).UTC(),
		out: filepath.Join(dir, "dist"), targets: []target{{runtime.GOOS, runtime.GOARCH}}, say: func(string) {},
	}
}

func TestTheSameSourcesGiveTheSameFilesInAnyDirectory(t *testing.T) {
	var sums []string
	for range 2 {
		r := tiny(t)
		if err := r.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(text))
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 2 {
		t.Errorf("once\n%sand again\n%s", sums[0], sums[1])
	}
}

func TestAProgramIsStampedAndListed(t *testing.T) {
	r := tiny(t)
	if err := os.MkdirAll(r.out, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(r.out, "of-before")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a file of an earlier release is left")
	}
	file := filepath.Join(r.out, "tiny_v1.2.3_"+runtime.GOOS+"_"+runtime.GOARCH)
	printed, err := exec.CommandContext(t.Context(), file).CombinedOutput()
	if err != nil || string(printed) != "v1.2.3 0123abc\n" {
		t.Errorf("the program prints %q, %v", printed, err)
	}
	raw, err := os.ReadFile(file + ".cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	var list document
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if list.Metadata.Component.Name != "example.org/tiny" || list.Metadata.Timestamp != "2023-11-14T22:13:20Z" || list.Components[0].Name != "std" {
		t.Errorf("%s", raw)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(list.SerialNumber) {
		t.Errorf("%s is no UUID", list.SerialNumber)
	}
}

func TestAReplacedModuleIsListedAsItsReplacement(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0+incompatible", Sum: "h1:a"},
		{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.1.0", Sum: "h1:fork"}},
	}}
	got := bill(release{version: "v1.0.0"}, info, [32]byte{}).Components
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.org/a@v1.0.0%2Bincompatible", "pkg:golang/example.org/fork@v1.1.0"}
	for i, purl := range want {
		if got[i].PURL != purl {
			t.Errorf("%s, want %s", got[i].PURL, purl)
		}
	}
}

func TestAReleaseNeedsAVersionAndACommit(t *testing.T) {
	for _, args := range [][]string{{}, {"-version", "v1"}, {"-version", "v1", "-commit", "0", "-time", "yesterday"}} {
		if err := run(t.Context(), append(args, "-out", filepath.Join(t.TempDir(), "dist"))); err == nil {
			t.Errorf("%q is not refused", args)
		}
	}
}

// The image and GoReleaser use the same build settings as this command.
func TestAllWaysToBuildAReleaseAgree(t *testing.T) {
	raw, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Builds []struct {
			Main, Binary        string
			Env, Flags, Ldflags []string
			Goos, Goarch        []string
			Goamd64, Goarm64    []string
			ID                  string
			ModTimestamp        string `yaml:"mod_timestamp"`
		}
	}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	build := config.Builds[0]
	var pairs []target
	for _, system := range build.Goos {
		for _, arch := range build.Goarch {
			pairs = append(pairs, target{system, arch})
		}
	}
	if !slices.Equal(pairs, targets) || !slices.Equal(build.Flags, buildFlags) || !slices.Contains(build.Env, "CGO_ENABLED=0") {
		t.Errorf("GoReleaser builds %v with %q and %q", pairs, build.Flags, build.Env)
	}
	if want := linkFlags("{{ .Tag }}", "{{ .FullCommit }}"); strings.Join(build.Ldflags, " ") != want {
		t.Errorf("GoReleaser links with %q, not %q", build.Ldflags, want)
	}
	image, err := os.ReadFile("../../deploy/docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(buildFlags, "CGO_ENABLED=0", `-ldflags="`+linkFlags("$VERSION", "$COMMIT")+`"`) {
		if !strings.Contains(string(image), want) {
			t.Errorf("the Dockerfile does not build with %s", want)
		}
	}
}
