package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

// blocks returns the YAML documents in docs/kubernetes.md: manifests, values of the chart,
// and files for other programs.
func blocks(t *testing.T) (manifest, values, others []string) {
	t.Helper()
	for _, match := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(read(t, "docs", "kubernetes.md")), -1) {
		switch text := match[1]; {
		case strings.HasPrefix(text, "apiVersion:"):
			manifest = append(manifest, text)
		case strings.HasPrefix(text, "# values\n"):
			values = append(values, text)
		default:
			others = append(others, text)
		}
	}
	if len(manifest) < 5 || len(values) < 4 || len(others) != 2 {
		t.Fatalf("docs/kubernetes.md has %d manifests, %d values and %d others", len(manifest), len(values), len(others))
	}
	return manifest, values, others
}

// merged returns the combination of all values on the page: each block is added to the
// first.
func merged(t *testing.T, blocks ...string) string {
	t.Helper()
	all := map[string]any{}
	for _, block := range blocks {
		var some map[string]any
		if err := yaml.UnmarshalStrict([]byte(block), &some); err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, some)
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheManifestsOfTheKubernetesPageAreValid(t *testing.T) {
	manifest, _, others := blocks(t)
	for _, text := range manifest {
		if err := (manifests{}).parse([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	for _, text := range others {
		var parsed map[string]any
		if err := yaml.UnmarshalStrict([]byte(text), &parsed); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}

// The chart produces the objects that the page shows.
func TestTheChartMakesWhatTheKubernetesPageShows(t *testing.T) {
	manifest, values, _ := blocks(t)
	page := manifests{}
	for _, text := range manifest {
		if !strings.Contains(text, "kind: Secret") {
			if err := page.parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, block := range values[1:] {
		rendered, err := render(merged(t, values[0], block))
		if err != nil {
			t.Errorf("values %d: %v", i+1, err)
			continue
		}
		for kind, shown := range page {
			if made := rendered[kind]; made != nil && spec(t, made) != spec(t, shown) {
				t.Errorf("the page shows\n%s\nand the chart makes\n%s", spec(t, shown), spec(t, made))
			}
		}
	}
}

// spec returns the specification of an object as text.
func spec(t *testing.T, object any) string {
	t.Helper()
	raw, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := yaml.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	raw, err = yaml.Marshal(fields["spec"])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestPromtoolAcceptsTheQueriesOfTheKubernetesPage(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool")
	}
	_, _, others := blocks(t)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, file, others[0])
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	checkMetrics(t, "docs/kubernetes.md", strings.ReplaceAll(others[0], "fairlead_demand_jobs", ""))
	query := regexp.MustCompile("(?s)```promql\n(.*?)\n```").FindStringSubmatch(string(read(t, "docs", "kubernetes.md")))
	if query == nil {
		t.Fatal("docs/kubernetes.md has no query")
	}
	checkMetrics(t, "docs/kubernetes.md", query[1])
	checkQueries(t, query[1:])
}

// Links to other pages in the pages about deploy/.
func TestTheLinksOfThePagesLeadSomewhere(t *testing.T) {
	for _, page := range []string{"kubernetes.md", "runbooks.md"} {
		for _, match := range regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`).FindAllStringSubmatch(string(read(t, "docs", page)), -1) {
			file, anchor := match[1], strings.TrimPrefix(match[2], "#")
			if file == "" {
				file = page
			}
			path := filepath.Join(root, "docs", file)
			info, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(anchors(string(text)), anchor) {
				t.Errorf("%s links to %s#%s, which is not there", page, file, anchor)
			}
		}
	}
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(text string) (found []string) {
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(match[1]), "")
		found = append(found, strings.ReplaceAll(anchor, " ", "-"))
	}
	return found
}

func TestTheCommandsOfThePagesExist(t *testing.T) {
	path := testprogram.Path(t)
	for _, page := range []string{"kubernetes.md", "runbooks.md"} {
		found := 0
		for _, match := range regexp.MustCompile("`fairlead ((?:[a-z]+ ?)+)([^`]*)`").FindAllStringSubmatch(string(read(t, "docs", page)), -1) {
			found++
			command := strings.Fields(match[1])
			out, err := exec.CommandContext(t.Context(), path, append(command, "--help")...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "fairlead "+strings.Join(command, " ")) {
				t.Errorf("%s: fairlead %s: %v", page, strings.Join(command, " "), err)
			}
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(match[2], -1) {
				if !strings.Contains(string(out), flag+" ") {
					t.Errorf("%s: fairlead %s has no %s", page, strings.Join(command, " "), flag)
				}
			}
		}
		if found < 3 {
			t.Errorf("%s names only %d commands", page, found)
		}
	}
}
