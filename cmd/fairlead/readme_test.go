package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README's examples are what a node with the demo answers, in each of its languages.
func TestTheExamplesOfTheReadmeAreTrueOfTheDemo(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	for _, file := range []string{"README.md", "README.zh.md"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil {
				t.Fatal(err)
			}
			node := startServe(t, "--demo", "--db", "sqlite://"+filepath.Join(t.TempDir(), "demo.db"))
			here := strings.NewReplacer("bin/fairlead", "fairlead", "localhost:7717", strings.TrimPrefix(node.url, "http://")).Replace(string(text))
			examples := runExamplesIn(t, here, node.url, "PATH="+programs(t)+string(os.PathListSeparator)+os.Getenv("PATH"),
				"FAIRLEAD_SERVER="+node.url, "XDG_CONFIG_HOME="+t.TempDir(), asProgram+"=1")
			if examples < 12 {
				t.Errorf("only %d examples were found", examples)
			}
		})
	}
}
