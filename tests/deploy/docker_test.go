package deploy

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The build does not need the files that .dockerignore excludes.
func TestTheImageGetsAllThatTheProgramIsBuiltFrom(t *testing.T) {
	const module = "github.com/fairlead-io/fairlead"
	ignored := map[string]bool{}
	for line := range strings.Lines(string(read(t, ".dockerignore"))) {
		ignored[strings.TrimSpace(line)] = true
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", "./cmd/fairlead")
	list.Dir = root
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(packages)) {
		inside, ours := strings.CutPrefix(strings.TrimSpace(line), module+"/")
		if !ours {
			continue
		}
		found++
		if tree, _, _ := strings.Cut(inside, "/"); ignored[tree] {
			t.Errorf(".dockerignore leaves out %s, which the program is built from", inside)
		}
	}
	if found < 20 || !ignored[".git"] {
		t.Errorf("%d packages and %v were compared", found, ignored)
	}
}

func TestTheImageIsBuiltByAGoThatTheModuleAccepts(t *testing.T) {
	image := regexp.MustCompile(`(?m)^FROM .*golang:(\d+\.\d+) AS build$`).FindSubmatch(read(t, "deploy", "docker", "Dockerfile"))
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(read(t, "go.mod"))
	if image == nil || wanted == nil || string(image[1]) != string(wanted[1]) {
		t.Errorf("the image is built by Go %q, and go.mod wants %q", image, wanted)
	}
}

func TestTheImageRunsAsTheUserOfTheChart(t *testing.T) {
	for file, want := range map[string]string{
		"deploy/docker/Dockerfile":                    "USER 65532:65532",
		"deploy/helm/fairlead/templates/_helpers.tpl": "runAsUser: 65532",
	} {
		if !strings.Contains(string(read(t, file)), want) {
			t.Errorf("%s does not say %s", file, want)
		}
	}
}
