package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// apt installs Debian packages without starting their services: tests run their own
// servers, and the machine's owner has requested no others.
type apt struct {
	program string
	// policy is the script that Debian packages call to check whether they may start a service
	// (see invoke-rc.d(8)).
	policy string
}

// noServices is a policy that forbids services. Its comment identifies it if an interrupted
// installation leaves it behind.
const noServices = "#!/bin/sh\n# Temporary: fairlead's tests are installing packages.\nexit 101\n"

// install refreshes the package lists only if they are missing or out of date: a refresh
// takes longer than most installations.
func (a apt) install(ctx context.Context, packages ...string) (err error) {
	restore, err := a.forbidServices()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	arguments := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	if a.run(ctx, arguments...) == nil {
		return nil
	}
	updateErr := a.run(ctx, "update")
	if err := a.run(ctx, arguments...); err != nil {
		// A failed update does not matter if the installation succeeds: an unrelated repository
		// may be unreachable.
		return errors.Join(updateErr, err)
	}
	return nil
}

func (a apt) run(ctx context.Context, arguments ...string) error {
	// Another package manager may be running, such as unattended upgrades.
	arguments = append([]string{"-o", "DPkg::Lock::Timeout=300"}, arguments...)
	command := exec.CommandContext(ctx, a.program, arguments...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %v: %w\n%s", arguments, err, output)
	}
	return nil
}

// forbidServices installs the policy and returns the function that restores the previous
// one. The previous policy is stored next to it, so that the next installation can recover
// it if this one is interrupted.
func (a apt) forbidServices() (restore func() error, err error) {
	previous := a.policy + ".before-fairlead-testdb"
	if current, err := os.ReadFile(a.policy); err == nil && string(current) != noServices {
		if err := os.Rename(a.policy, previous); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(a.policy, []byte(noServices), 0o755); err != nil {
		return nil, err
	}
	return func() error {
		err := os.Rename(previous, a.policy)
		if errors.Is(err, fs.ErrNotExist) {
			return os.Remove(a.policy)
		}
		return err
	}, nil
}
