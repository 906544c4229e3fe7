package deploy

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type alerts struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

const runbooks = "https://github.com/fairlead-io/fairlead/blob/main/docs/runbooks.md#"

func TestEachAlertHasARunbookAndATest(t *testing.T) {
	var rules alerts
	if err := yaml.UnmarshalStrict(read(t, "deploy", "prometheus", "alerts.yaml"), &rules); err != nil {
		t.Fatal(err)
	}
	tested := string(read(t, "deploy", "prometheus", "alerts_test.yaml"))
	sections := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(string(read(t, "docs", "runbooks.md")), -1) {
		sections[match[1]] = true
	}
	for _, rule := range rules.Groups[0].Rules {
		checkMetrics(t, rule.Alert, rule.Expr)
		if rule.Annotations["runbook_url"] != runbooks+strings.ToLower(rule.Alert) || !sections[rule.Alert] {
			t.Errorf("%s has no section in docs/runbooks.md, or links to another", rule.Alert)
		}
		if rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s has no summary or no severity", rule.Alert)
		}
		if !strings.Contains(tested, `alertname="`+rule.Alert+`"`) {
			t.Errorf("no case of alerts_test.yaml makes %s fire", rule.Alert)
		}
		delete(sections, rule.Alert)
	}
	if len(sections) > 0 {
		t.Errorf("docs/runbooks.md has %v, which are no alerts", sections)
	}
	checkMetrics(t, "alerts_test.yaml", tested)
}

func TestPromtoolAcceptsTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("there is no promtool")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = filepath.Join(root, "deploy", "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

type dashboard struct {
	UID        string `json:"uid"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID      int    `json:"id"`
		Type    string `json:"type"`
		Title   string `json:"title"`
		GridPos struct {
			X, Y, W, H int
		} `json:"gridPos"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	var board dashboard
	if err := json.Unmarshal(read(t, "deploy", "grafana", "fairlead.json"), &board); err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{"__rate_interval": true}
	for _, variable := range board.Templating.List {
		defined[variable.Name] = true
		checkMetrics(t, variable.Name, variable.Definition)
	}
	var queries []string
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, panel := range board.Panels {
		if ids[panel.ID] {
			t.Errorf("two panels have the id %d", panel.ID)
		}
		ids[panel.ID] = true
		for x := range panel.GridPos.W {
			for y := range panel.GridPos.H {
				at := [2]int{panel.GridPos.X + x, panel.GridPos.Y + y}
				if other := taken[at]; other != "" || at[0] >= 24 {
					t.Fatalf("%s lies over %s, or beyond the edge", panel.Title, other)
				}
				taken[at] = panel.Title
			}
		}
		if len(panel.Targets) == 0 && panel.Type != "row" {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			checkMetrics(t, panel.Title, target.Expr)
			queries = append(queries, target.Expr)
			for _, match := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !defined[match[1]] {
					t.Errorf("%s uses $%s, which is not defined", panel.Title, match[1])
				}
			}
		}
	}
	checkQueries(t, queries)
}

// checkQueries fails the test unless promtool accepts the queries of the dashboard.
func checkQueries(t *testing.T, queries []string) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		return // TestPromtoolAcceptsTheAlerts reports that it is missing
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", "x")
	var rules []any
	for i, query := range queries {
		rules = append(rules, map[string]any{"record": fmt.Sprintf("query_%d", i), "expr": variables.Replace(query)})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "queries", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	write(t, file, string(text))
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool does not understand\n%s\n%s", text, out)
	}
}
