package fairlead_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -run ^TestTheDiagramShowsTheImports$ -update .

var update = flag.Bool("update", false, "rewrite the diagram of docs/architecture.md")

// layers are the rows of the diagram, from top to bottom. A package imports packages of
// its own row and of those below, never above.
var layers = []struct {
	name     string
	packages []string
}{
	{"servers and workers", []string{"console", "external", "metrics", "server", "worker"}},
	{"nodes", []string{"engine"}},
	{"handlers", []string{"cdc", "httpcall", "sweep/items", "tracing"}},
	{"databases", []string{"mysql", "postgres", "seal", "sqlite"}},
	{"storage contract", []string{"driver"}},
	{"features that create jobs", []string{"alert", "batch", "bulk", "schedule", "sweep"}},
	{"wait history", []string{"hold"}},
	{"access and audit", []string{"access"}},
	{"jobs", []string{"."}},
}

// undrawn are trees of packages that the diagram leaves out. What one of them imports
// counts as imported by the package that uses it.
var undrawn = []struct{ tree, why string }{
	{"internal", "they are details of the packages that use them, and would be half of the boxes"},
	{"api", "its code is generated, and only server, worker and console use it"},
	{"cmd", "the program imports everything"},
	{"storetest", "only tests import it"},
	{"fairleadtest", "only tests import it"},
	{"sim", "only tests import it"},
	{"interleave", "only tests import it"},
	{"examples", "they are programs of users"},
	{"cdc/connecttest", "only tests import it"},
}

// TestTheDiagramShowsTheImports derives the diagram of docs/architecture.md from the
// imports. "make generate" rewrites it.
func TestTheDiagramShowsTheImports(t *testing.T) {
	const document, begin, end = "docs/architecture.md", "```mermaid\nflowchart TD\n", "```\n"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	drawn, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no block that begins with %q", document, begin)
	}
	want := diagram(drawnImports(t))
	if drawn == want {
		return
	}
	if !*update {
		t.Fatalf("the diagram of %s is not what the packages import; make generate rewrites it as\n%s", document, want)
	}
	if err := os.WriteFile(document, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawnImports is which drawn package imports which, directly or through undrawn ones.
func drawnImports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		pkg := path.Dir(file)
		if all[pkg] == nil {
			all[pkg] = map[string]bool{}
		}
		for _, imported := range importsOf(t, file) {
			if inside, ours := strings.CutPrefix(imported, module); ours {
				all[pkg][path.Join(".", strings.TrimPrefix(inside, "/"))] = true
			}
		}
	}
	for _, layer := range layers {
		for _, pkg := range layer.packages {
			if all[pkg] == nil {
				t.Errorf("package %s of the layer %q does not exist: remove it", pkg, layer.name)
			}
		}
	}
	drawn := map[string][]string{}
	for pkg := range all {
		if isUndrawn(pkg) {
			continue
		}
		row := layerOf(pkg)
		if row < 0 {
			t.Errorf("package %s is in no layer of the diagram: add it to layers, or to undrawn with the reason", pkg)
			continue
		}
		drawn[pkg] = slices.Sorted(maps.Keys(throughUndrawn(all, pkg)))
		for _, imported := range drawn[pkg] {
			if layerOf(imported) < row {
				t.Errorf("%s imports %s, which is in a layer above: %q over %q", pkg, imported, layers[layerOf(imported)].name, layers[row].name)
			}
		}
	}
	return drawn
}

func isUndrawn(pkg string) bool {
	if strings.Contains(pkg, "/internal/") {
		return true // a detail of the package that it is in
	}
	for _, u := range undrawn {
		if pkg == u.tree || strings.HasPrefix(pkg, u.tree+"/") {
			return true
		}
	}
	return false
}

func layerOf(pkg string) int {
	for i, layer := range layers {
		if slices.Contains(layer.packages, pkg) {
			return i
		}
	}
	return -1
}

func throughUndrawn(all map[string]map[string]bool, pkg string) map[string]bool {
	reached := map[string]bool{}
	for imported := range all[pkg] {
		if isUndrawn(imported) {
			maps.Copy(reached, throughUndrawn(all, imported))
		} else {
			reached[imported] = true
		}
	}
	return reached
}

// diagram draws the transitive reduction: no arrow that follows from others. Packages of
// a layer that have the same arrows share a box.
func diagram(imports map[string][]string) string {
	arrows := map[string][]string{}
	for from, direct := range imports {
		for _, to := range direct {
			follows := func(via string) bool { return via != to && reaches(imports, via, to) }
			if !slices.ContainsFunc(direct, follows) {
				arrows[from] = append(arrows[from], to)
			}
		}
	}
	var boxes, lines strings.Builder
	boxOf := map[string]string{}
	for i, layer := range layers {
		fmt.Fprintf(&boxes, "    subgraph layer%d [%s]\n", i, layer.name)
		named := map[string][]string{} // arrows in and out → packages
		var order []string
		for _, pkg := range layer.packages {
			key := fmt.Sprint(arrows[pkg], importers(arrows, pkg))
			if named[key] == nil {
				order = append(order, key)
			}
			named[key] = append(named[key], pkg)
		}
		for _, key := range order {
			box := boxName(named[key][0])
			for _, pkg := range named[key] {
				boxOf[pkg] = box
			}
			label := strings.Join(named[key], ", ")
			if label == "." {
				label = "fairlead, the root"
			}
			fmt.Fprintf(&boxes, "        %s[%s]\n", box, label)
		}
		boxes.WriteString("    end\n")
	}
	seen := map[string]bool{}
	for _, layer := range layers {
		for _, pkg := range layer.packages {
			for _, to := range arrows[pkg] {
				line := fmt.Sprintf("    %s --> %s\n", boxOf[pkg], boxOf[to])
				if !seen[line] {
					lines.WriteString(line)
				}
				seen[line] = true
			}
		}
	}
	return boxes.String() + lines.String()
}

func reaches(imports map[string][]string, from, to string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(imports, next, to) })
}

func importers(arrows map[string][]string, pkg string) []string {
	var from []string
	for importer, direct := range arrows {
		if slices.Contains(direct, pkg) {
			from = append(from, importer)
		}
	}
	slices.Sort(from)
	return from
}

func boxName(pkg string) string {
	if pkg == "." {
		return "root"
	}
	return strings.ReplaceAll(pkg, "/", "_")
}
