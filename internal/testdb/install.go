package testdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/fairlead-io/fairlead/internal/install"
)

// findOrInstall returns the programs of a server. If they are missing, it installs the
// Debian package, if permitted. It returns [ErrUnavailable] if the programs are neither
// installed nor installable.
func findOrInstall[Programs any](ctx context.Context, debianPackage string, find func(context.Context) (Programs, error)) (Programs, error) {
	programs, findErr := find(ctx)
	if findErr == nil {
		return programs, nil
	}
	if err := install.Allowed(); err != nil {
		return programs, fmt.Errorf("%w: %s is not installed (%w), nor installable: %w", ErrUnavailable, debianPackage, findErr, err)
	}
	fmt.Fprintf(os.Stderr, "testdb: %s is missing: installing it with apt-get\n", debianPackage)
	err := install.Packages(ctx, debianPackage)
	if err == nil {
		programs, err = find(ctx)
	}
	if err != nil {
		return programs, fmt.Errorf("%w: install %s: %w", ErrUnavailable, debianPackage, err)
	}
	return programs, nil
}

// lookPath searches for a program on the PATH and in one more directory, which an ordinary
// user's PATH may lack.
func lookPath(name, directory string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join(directory, name))
}

// versionOf returns the output of a program's --version option.
func versionOf(ctx context.Context, program string) (string, error) {
	output, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	return string(output), nil
}
