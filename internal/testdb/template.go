package testdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fairlead-io/fairlead/internal/usercache"
)

// A template is an initialized data directory. Creating one takes longer than the rest of a
// server's start, so it is created once per version of the server and then copied.
type template struct {
	server     string // the server's program, which reports its version
	initialize []string
	runAs      *syscall.Credential
}

// fillFromTemplate copies the template into the empty directory data. It creates the
// template first if necessary.
func fillFromTemplate(ctx context.Context, t template, data string) error {
	version, err := versionOf(ctx, t.server)
	if err != nil {
		return err
	}
	cache, err := usercache.Dir("fairlead-testdb")
	if err != nil {
		return err
	}
	// Everything that affects the content is part of the name.
	key := sha256.Sum256([]byte(version + "\n" + strings.Join(t.initialize, "\n")))
	path := filepath.Join(cache, fmt.Sprintf("%s-%x", filepath.Base(t.server), key[:8]))
	err = usercache.WithLock(path+".lock", func() error {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return t.make(ctx, path)
	})
	if err != nil {
		return fmt.Errorf("initial data directory: %w", err)
	}
	return os.CopyFS(data, os.DirFS(path))
}

// make initializes a data directory and moves it to path in one step, so that an incomplete
// directory is never mistaken for a template. It works in the temporary directory, because
// the server's user may not have access to the cache.
func (t template) make(ctx context.Context, path string) (err error) {
	scratch, err := os.MkdirTemp(temporaryRoot(), "fairlead-template-")
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, os.RemoveAll(scratch)) }()
	if err := giveTo(t.runAs, scratch); err != nil {
		return err
	}
	made := filepath.Join(scratch, "data")
	program, arguments := t.initialize[0], t.initialize[1:]
	initialize := exec.CommandContext(ctx, program, dataArgument(arguments, made)...)
	initialize.Dir = scratch
	initialize.Env = serverEnvironment()
	initialize.SysProcAttr = &syscall.SysProcAttr{Credential: t.runAs}
	if output, err := initialize.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, output)
	}

	partial, err := os.MkdirTemp(filepath.Dir(path), "partial-")
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, os.RemoveAll(partial)) }()
	finished := filepath.Join(partial, "data")
	if err := os.CopyFS(finished, os.DirFS(made)); err != nil {
		return err
	}
	return os.Rename(finished, path)
}

// dataArgument completes the last argument, which is the option for the data directory.
func dataArgument(arguments []string, data string) []string {
	last := len(arguments) - 1
	return append(arguments[:last:last], arguments[last]+"="+data)
}
