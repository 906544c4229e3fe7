package testdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// findOrInstall finds a server's programs, installing the Debian package first
// if they are missing and we may. Its error is [ErrUnavailable] when they
// cannot be had.
func findOrInstall[Programs any](ctx context.Context, debianPackage string, find func(context.Context) (Programs, error)) (Programs, error) {
	programs, findErr := find(ctx)
	if findErr == nil {
		return programs, nil
	}
	apt, err := systemApt()
	if err != nil {
		return programs, fmt.Errorf("%w: %s is not installed (%w), nor installable: %w", ErrUnavailable, debianPackage, findErr, err)
	}
	// Test binaries run in parallel: one installs, the others wait and then
	// find the programs.
	err = withFileLock(apt.lock, func() error {
		if programs, findErr = find(ctx); findErr == nil {
			return nil
		}
		fmt.Fprintf(os.Stderr, "testdb: %s is missing: installing it with apt-get\n", debianPackage)
		return apt.install(ctx, debianPackage)
	})
	if err == nil {
		programs, err = find(ctx)
	}
	if err != nil {
		return programs, fmt.Errorf("%w: install %s: %w", ErrUnavailable, debianPackage, err)
	}
	return programs, nil
}

// apt installs Debian packages without letting them start their services:
// tests run their own servers, and a machine's owner asked for no others.
type apt struct {
	program string
	lock    string
	// policy is the script that Debian's packages ask whether they may start
	// a service (see invoke-rc.d(8)).
	policy string
}

// forbidServices is a policy that says no. Its comment makes it recognisable
// should an interrupted installation leave it behind.
const forbidServices = "#!/bin/sh\n# Temporary: fairlead's tests are installing packages.\nexit 101\n"

// systemApt returns the machine's apt, or an error that says why we cannot use it.
func systemApt() (apt, error) {
	if os.Geteuid() != 0 {
		return apt{}, errors.New("not running as root")
	}
	program, err := exec.LookPath("apt-get")
	if err != nil {
		return apt{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return apt{}, err
	}
	return apt{
		program: program,
		lock:    filepath.Join(cache, "apt.lock"),
		policy:  "/usr/sbin/policy-rc.d",
	}, nil
}

// install refreshes the package lists only when they prove missing or stale:
// that takes longer than most installations.
func (a apt) install(ctx context.Context, debianPackage string) (err error) {
	restore, err := a.forbidServices()
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, restore()) }()
	arguments := []string{"install", "-y", "--no-install-recommends", debianPackage}
	if a.run(ctx, arguments...) == nil {
		return nil
	}
	updateErr := a.run(ctx, "update")
	if err := a.run(ctx, arguments...); err != nil {
		// Otherwise what the update missed, say a foreign repository that is
		// out of reach, does not matter.
		return errors.Join(updateErr, err)
	}
	return nil
}

func (a apt) run(ctx context.Context, arguments ...string) error {
	// Another package manager may be at work, such as unattended upgrades.
	arguments = append([]string{"-o", "DPkg::Lock::Timeout=300"}, arguments...)
	command := exec.CommandContext(ctx, a.program, arguments...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %v: %w\n%s", arguments, err, output)
	}
	return nil
}

// forbidServices puts a policy in force and returns the function that puts the
// previous one back. A previous one is kept beside it meanwhile, from where
// the next installation recovers it if this one is interrupted.
func (a apt) forbidServices() (restore func() error, err error) {
	previous := a.policy + ".before-fairlead-testdb"
	if current, err := os.ReadFile(a.policy); err == nil && string(current) != forbidServices {
		if err := os.Rename(a.policy, previous); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(a.policy, []byte(forbidServices), 0o755); err != nil {
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

// lookPath finds a program on the PATH or in one more directory, which the
// PATH of an ordinary user may lack.
func lookPath(name, directory string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join(directory, name))
}

// versionOf returns what a program prints when asked for its version.
func versionOf(ctx context.Context, program string) (string, error) {
	output, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	return string(output), nil
}
