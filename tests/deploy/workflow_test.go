package deploy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	Name        string            `json:"name"`
	On          any               `json:"true"` // YAML 1.1 parses "on" as true
	Permissions map[string]string `json:"permissions"`
	Concurrency map[string]any    `json:"concurrency"`
	Jobs        map[string]struct {
		Needs       string            `json:"needs"`
		RunsOn      string            `json:"runs-on"`
		Container   string            `json:"container"`
		Timeout     int               `json:"timeout-minutes"`
		Permissions map[string]string `json:"permissions"`
		Strategy    map[string]any    `json:"strategy"`
		Services    map[string]any    `json:"services"`
		Steps       []struct {
			Uses string            `json:"uses"`
			With map[string]any    `json:"with"`
			Run  string            `json:"run"`
			Env  map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

func TestTheWorkflowsCallTargetsThatExist(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\.PHONY: (.+)$`).FindAllStringSubmatch(string(read(t, "Makefile")), -1) {
		for _, name := range strings.Fields(match[1]) {
			targets[name] = true
		}
	}
	for _, name := range []string{"ci.yml", "release.yml"} {
		var flow workflow
		if err := decode(read(t, ".github", "workflows", name), &flow); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		called := 0
		for id, job := range flow.Jobs {
			if job.RunsOn == "" || job.Timeout == 0 || len(job.Steps) == 0 {
				t.Errorf("%s: the job %s has no machine, no timeout or no steps", name, id)
			}
			if job.Needs != "" && len(flow.Jobs[job.Needs].Steps) == 0 {
				t.Errorf("%s: %s needs %s, which is not there", name, id, job.Needs)
			}
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") {
					t.Errorf("%s: a step of %s uses and runs, or neither", name, id)
				}
				if strings.Contains(step.Run, "${{ github.") {
					t.Errorf("%s: %q puts what others name into a shell: use the environment", name, step.Run)
				}
				if target, ok := strings.CutPrefix(step.Run, "make "); ok {
					called++
					if !targets[strings.Fields(target)[0]] {
						t.Errorf("%s: there is no target %s", name, target)
					}
				}
			}
		}
		if flow.Permissions["contents"] != "read" || called == 0 {
			t.Errorf("%s may do more than read, or calls no target", name)
		}
	}
}

func TestTheFilesForGitHubAreYAML(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "ISSUE_TEMPLATE", "*.yml"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		var parsed map[string]any
		if err := yaml.UnmarshalStrict(read(t, ".github", "ISSUE_TEMPLATE", filepath.Base(file)), &parsed); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
