package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPackagesAreInstalledOnlyWhereThatIsWelcome(t *testing.T) {
	const user, root = 1000, 0
	for name, c := range map[string]struct {
		euid    int
		env     map[string]string
		files   map[string]string
		noApt   bool
		refusal string // empty if installing is allowed
	}{
		"root on a developer's machine":       {root, nil, nil, false, "INSTALL_DEPS=1"},
		"root who asks for it":                {root, map[string]string{Env: "1"}, nil, false, ""},
		"root in CI":                          {root, map[string]string{"CI": "true"}, nil, false, ""},
		"root in CI who forbids it":           {root, map[string]string{"CI": "true", Env: "0"}, nil, false, "forbids"},
		"root in a Docker container":          {root, nil, map[string]string{".dockerenv": ""}, false, ""},
		"root in a Podman container":          {root, nil, map[string]string{"run/.containerenv": ""}, false, ""},
		"root in a pod":                       {root, nil, map[string]string{"proc/1/cgroup": "0::/kubepods/burstable/x\n"}, false, ""},
		"root in a container of systemd":      {root, map[string]string{"container": "systemd-nspawn"}, nil, false, ""},
		"root on a machine that runs systemd": {root, nil, map[string]string{"proc/1/cgroup": "0::/init.scope\n"}, false, "INSTALL_DEPS=1"},
		"a user in CI":                        {user, map[string]string{"CI": "true"}, nil, false, "root"},
		"a user who asks for it":              {user, map[string]string{Env: "1"}, nil, false, "root"},
		"no apt-get":                          {root, map[string]string{Env: "1"}, nil, true, "apt-get"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				write(t, filepath.Join(dir, file), text)
			}
			machine := host{root: dir, euid: c.euid, getenv: func(key string) string { return c.env[key] }, lookPath: func(name string) (string, error) {
				if c.noApt {
					return "", errors.New("not found")
				}
				return "/usr/bin/" + name, nil
			}}
			err := machine.allowed()
			if (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("allowed returned %v, want a refusal with %q", err, c.refusal)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
