package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// The tasks of batches write files, so that their effects are visible without a query to
// the database.
const (
	fileTarget = "file"
	fileWrite  = "write"
	fileSuffix = ".target"
)

// file is the content of a target.
type file struct {
	Value json.RawMessage `json:"value"`
	Fence int64           `json:"fence"` // fence of the run that wrote it
}

// errOvertaken is returned to a run that a later run has overtaken, because its process was
// suspended between the claim and the write.
var errOvertaken = errors.New("a later run has written the file")

// handleFiles registers the operation that writes files. A worker runs in the directory of
// its run.
func handleFiles(mux *fairlead.Mux) {
	const longest = 20 * time.Millisecond
	batch.Handle(mux, batch.Operation{
		TargetType: fileTarget, BatchType: fileWrite,
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			var held json.RawMessage
			err := withFile(".", task.Target.ID, func(f file) (*file, error) {
				held = f.Value
				return nil, nil
			})
			return held, err
		},
		Process: func(ctx context.Context, task batch.TaskArgs) error {
			job, ok := fairlead.RunningJob(ctx)
			if !ok {
				return errors.New("a task runs under a context that is not its node's")
			}
			if err := rest(ctx, rand.N(longest)); err != nil {
				return err
			}
			return withFile(".", task.Target.ID, func(f file) (*file, error) {
				if f.Fence > job.Fence {
					return nil, errOvertaken
				}
				return &file{Value: task.After, Fence: job.Fence}, nil
			})
		},
	})
}

// withFile reads a target and writes the result of change, if it is not nil, under a lock
// against other processes. A process that dies during the write leaves the old content.
func withFile(dir, name string, change func(file) (*file, error)) (err error) {
	path := filepath.Join(dir, name+fileSuffix)
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	held, err := readTarget(path)
	if err != nil {
		return err
	}
	changed, err := change(held)
	if err != nil || changed == nil {
		return err
	}
	text, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func readTarget(path string) (held file, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	if err := json.Unmarshal(text, &held); err != nil && !errors.Is(err, io.EOF) {
		return file{}, fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return held, nil
}
