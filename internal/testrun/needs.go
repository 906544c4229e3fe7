package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/install"
)

// need is a program used by tests.
type need struct {
	name     string
	tier     tierName // the first tier that uses it
	programs []string // file patterns, or names on the PATH; one of them is enough
	env      []string // environment variables that specify an alternative
	packages []string // Debian packages
}

var needs = []need{
	{"PostgreSQL", first, []string{"initdb", "/usr/lib/postgresql/*/bin/initdb"}, []string{"FAIRLEAD_TEST_POSTGRES", "FAIRLEAD_TEST_POSTGRES_BIN"}, []string{"postgresql"}},
	{"MariaDB", first, []string{"mariadbd", "/usr/sbin/mariadbd"}, []string{"FAIRLEAD_TEST_MYSQL"}, []string{"mariadb-server"}},
	{"Chromium", first, []string{"chromium", "google-chrome"}, []string{"FAIRLEAD_TEST_CHROMIUM"}, []string{"chromium", "fonts-noto-cjk", "fonts-dejavu-core"}},
	{"curl", first, []string{"curl"}, nil, []string{"curl"}},
	{"sqlite3", first, []string{"sqlite3"}, nil, []string{"sqlite3"}},
	{"Python", first, []string{"python3"}, nil, []string{"python3"}},
	{"Node.js", first, []string{"node"}, nil, []string{"nodejs"}},
	{"a C compiler", second, []string{"gcc", "cc"}, nil, []string{"gcc", "libc6-dev"}},
	{"PgBouncer", second, []string{"pgbouncer", "/usr/sbin/pgbouncer"}, nil, []string{"pgbouncer"}},
	{"Galera", second, []string{"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"}, nil, []string{"galera-4"}},
	{"rsync", second, []string{"rsync"}, nil, []string{"rsync"}},
	{"promtool", second, []string{"promtool"}, nil, []string{"prometheus"}},
}

func (n need) met() bool {
	return slices.ContainsFunc(n.env, func(name string) bool { return os.Getenv(name) != "" }) ||
		slices.ContainsFunc(n.programs, func(program string) bool {
			if !filepath.IsAbs(program) {
				_, err := exec.LookPath(program)
				return err == nil
			}
			found, err := filepath.Glob(program)
			return err == nil && len(found) > 0
		})
}

// provide installs the missing programs of a tier. If that is not allowed, it prints one
// line with the missing programs and the way to allow their installation.
func provide(ctx context.Context, tiers string, out io.Writer) {
	var names, packages []string
	for _, n := range needs {
		if slices.Contains(tiersOf(tiers), n.tier) && !n.met() {
			names, packages = append(names, n.name), append(packages, n.packages...)
		}
	}
	if len(names) == 0 {
		return
	}
	if err := install.Allowed(); err != nil {
		fmt.Fprintln(out, refusal(names, packages, err))
		return
	}
	fmt.Fprintf(out, "== Installing %s with apt-get: a minute or two\n", strings.Join(packages, " "))
	if err := install.Packages(ctx, packages...); err != nil {
		fmt.Fprintf(out, "testrun: tests that need %s may be skipped: %v\n", strings.Join(names, ", "), err)
	}
}

// refusal returns a message with the missing programs, why they are not installed, and how
// to install them.
func refusal(names, packages []string, why error) string {
	return fmt.Sprintf("Not installed: %s. Nothing is installed here, because %v, and tests that need these programs are skipped. To install them: sudo apt-get install %s, or sudo %s=1 make test",
		strings.Join(names, ", "), why, strings.Join(packages, " "), install.Env)
}
