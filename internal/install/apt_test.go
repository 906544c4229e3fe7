package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAptForbidsServicesAndRestoresThePolicy(t *testing.T) {
	const owners = "#!/bin/sh\nexit 0\n"
	for name, before := range map[string]string{
		"no policy before":                      "",
		"the owner's policy before":             owners,
		"left behind by an interrupted attempt": noServices,
	} {
		t.Run(name, func(t *testing.T) {
			apt, log := fakeApt(t, "exit 0")
			after := before
			if before == noServices {
				after = ""
			}
			if before != "" {
				write(t, apt.policy, before)
			}
			if err := apt.install(t.Context(), "postgresql"); err != nil {
				t.Fatal(err)
			}
			if got := readIfExists(t, apt.policy); got != after {
				t.Errorf("policy is %q afterwards, want %q", got, after)
			}
			if got := readIfExists(t, log); !strings.Contains(got, "install -y --no-install-recommends postgresql") ||
				!strings.Contains(got, "policy says 101") {
				t.Errorf("apt-get was called with: %s", got)
			}
		})
	}
}

func TestAptRecoversThePolicyOfAnInterruptedInstallation(t *testing.T) {
	const owners = "#!/bin/sh\nexit 0\n"
	apt, _ := fakeApt(t, "exit 0")
	write(t, apt.policy, owners)
	if _, err := apt.forbidServices(); err != nil { // and never restored
		t.Fatal(err)
	}
	if err := apt.install(t.Context(), "postgresql"); err != nil {
		t.Fatal(err)
	}
	if got := readIfExists(t, apt.policy); got != owners {
		t.Errorf("policy is %q afterwards, want the owner's", got)
	}
}

func TestAptRefreshesListsOnlyWhenInstallingFails(t *testing.T) {
	apt, log := fakeApt(t, `case "$*" in *update*) touch "$0.updated";; *) [ -e "$0.updated" ];; esac`)
	if err := apt.install(t.Context(), "postgresql"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(readIfExists(t, log), "apt-get"); got != 3 {
		t.Errorf("apt-get ran %d times, want install, update, install", got)
	}
}

func TestAptFailureShowsItsOutput(t *testing.T) {
	apt, _ := fakeApt(t, "echo no such package; exit 100")
	err := apt.install(t.Context(), "postgresql")
	if err == nil || !strings.Contains(err.Error(), "no such package") {
		t.Errorf("error is %v", err)
	}
}

// fakeApt returns an apt whose apt-get logs its arguments and the policy's answer, and
// then runs the script.
func fakeApt(t *testing.T, script string) (fake apt, log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	fake = apt{
		program: filepath.Join(dir, "apt-get"),
		policy:  filepath.Join(dir, "policy-rc.d"),
	}
	write(t, fake.program, fmt.Sprintf("#!/bin/sh\n%s; echo apt-get \"$@\", policy says $? >>%s\n%s\n", fake.policy, log, script))
	return fake, log
}

func readIfExists(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}
