// Package install installs the Debian packages that tests need, where that is allowed.
//
// It installs as root in a container or in CI. On any other machine it installs only if
// INSTALL_DEPS=1 is set, because tests must not change a developer's machine without
// permission.
package install

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/fairlead-io/fairlead/internal/usercache"
)

// Env is the environment variable that allows ("1") or forbids ("0") the installation of
// packages on any machine.
const Env = "INSTALL_DEPS"

// Allowed returns nil if packages may be installed on this machine, and otherwise an error
// that states the reason.
func Allowed() error {
	return host{root: "/", euid: os.Geteuid(), getenv: os.Getenv, lookPath: exec.LookPath}.allowed()
}

// Packages installs Debian packages. It returns an error if installation is not allowed.
// Concurrent calls from several processes take turns.
func Packages(ctx context.Context, packages ...string) error {
	if err := Allowed(); err != nil {
		return err
	}
	program, err := exec.LookPath("apt-get")
	if err != nil {
		return err
	}
	dir, err := usercache.Dir("fairlead-install")
	if err != nil {
		return err
	}
	machine := apt{program: program, policy: "/usr/sbin/policy-rc.d"}
	return usercache.WithLock(filepath.Join(dir, "apt.lock"), func() error { return machine.install(ctx, packages...) })
}

// host is the current machine.
type host struct {
	root     string // root of the file system
	euid     int
	getenv   func(string) string
	lookPath func(string) (string, error)
}

func (h host) allowed() error {
	asked := h.getenv(Env)
	_, noApt := h.lookPath("apt-get")
	switch {
	case asked == "0":
		return errors.New(Env + "=0 forbids it")
	case noApt != nil:
		return errors.New("apt-get is not available")
	case h.euid != 0:
		return errors.New("not running as root")
	case asked != "1" && h.getenv("CI") == "" && !h.container():
		return errors.New("this is neither a container nor CI, and " + Env + "=1 is not set")
	}
	return nil
}

// containerGroup matches a line of /proc/1/cgroup in a container.
var containerGroup = regexp.MustCompile(`/(docker|kubepods|lxc|containerd|libpod|buildkit)`)

func (h host) container() bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := os.Stat(filepath.Join(h.root, mark)); err == nil {
			return true
		}
	}
	groups, err := os.ReadFile(filepath.Join(h.root, "proc/1/cgroup"))
	return h.getenv("container") != "" || err == nil && containerGroup.Match(groups)
}
