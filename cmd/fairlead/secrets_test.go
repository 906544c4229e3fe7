package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The user who starts a node may read files with passwords, but errors in these files are
// visible to everyone who can read the log.
func TestMistakesInFilesDoNotShowWhatTheFilesSay(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(t.TempDir(), "config"))
	contexts := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "fairlead", "contexts.yaml")
	if err := os.MkdirAll(filepath.Dir(contexts), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file.yaml")
	serve, cdc := []string{"serve", "--config", file}, []string{"serve", "--db", "sqlite://:memory:", "--addr", "127.0.0.1:0", "--cdc", file}
	apply, list := []string{"schedule", "apply", "-f", file}, []string{"job", "list"}
	for _, c := range []struct {
		name, text, want string
		args             []string
	}{
		{"twice", "db: postgres://u:s3cretpw@h/x\nslots: 1\nslots: 2\n", `line 3, column 1: mapping key "slots" already defined`, serve},
		{"open quote", "slots: 1\ndb: \"postgres://u:s3cretpw@h/x\n", "line 2, column", serve},
		{"alias", "db: *s3cretpw\n", "line 1, column", serve},
		{"tag", "db: !!bool s3cretpw\n", "line 1, column", serve},
		{"no space", "db:postgres://u:s3cretpw@h/x\nslots: 1\n", "line 1, column", serve},
		{"no map", "postgres://u:s3cretpw@h/x\n", "line 1, column", serve},
		{"header", "db: |s3cretpw\n", "line 1, column", serve},
		{"as a key", "a: {postgres://u:s3cretpw@h/x: 1, postgres://u:s3cretpw@h/x: 2}\n", "line 1, column", serve},
		{"cdc twice", "clusters: [{name: a, password: s3cretpw}]\npoll: 1s\npoll: 2s\n", "line 3, column", cdc},
		{"cdc open quote", "clusters: [{name: a, password: 's3cretpw}]\n", "line 1, column", cdc},
		{"cdc unknown", "clusters: [{name: a, password: s3cretpw, nme: a}]\n", `line 1, column 42: unknown field "nme"`, cdc},
		{"cdc unknown value", "clusters: [{name: a, 'p:s3cretpw': a}]\n", "unknown field", cdc},
		{"cdc type", "clusters: s3cretpw\n", "line 1, column", cdc},
		{"cdc span", "poll: s3cretpw\n", "invalid duration", cdc},
		{"cdc number", "keep_progress: s3cretpw\n", "line 1, column", cdc},
		{"schedules", "name: a\njob: {args: {password: \"s3cretpw}}\n", "line 2, column", apply},
		{"contexts", "contexts: {a: {server: http://h, token: 's3cretpw}}\n", "line 1, column", list},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{file, contexts} {
				if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.args[0] == "schedule" {
				c.args = append(c.args, "--server", "http://127.0.0.1:1")
			}
			var out, errs strings.Builder
			code := run(t.Context(), c.args, &out, &errs)
			if code != exitUsage || !strings.Contains(errs.String(), c.want) || !strings.Contains(errs.String(), ".yaml") {
				t.Errorf("exit %d, %s; want it to tell %q", code, errs.String(), c.want)
			}
			if strings.Contains(errs.String()+out.String(), "s3cret") {
				t.Errorf("it shows the secret: %s", errs.String())
			}
		})
	}
}
