package main

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

// rereadPause is the interval at which a file is checked.
const rereadPause = time.Second

// reread holds a value read from files, and reads it again when they have changed: a
// certificate, a token or a secret. If reading fails, the previous value stays in use.
type reread[T any] struct {
	what  string // for the log
	files []string
	read  func() (T, error)
	log   *slog.Logger
	now   func() time.Time

	mu     sync.Mutex
	value  T
	stamps []stamp
	looked time.Time
}

// stamp identifies a version of a file.
type stamp struct {
	changed time.Time
	size    int64
}

// newReread reads the files for the first time.
func newReread[T any](what string, log *slog.Logger, read func() (T, error), files ...string) (*reread[T], error) {
	r := &reread[T]{what: what, files: files, read: read, log: log, now: time.Now}
	r.looked, r.stamps = r.now(), r.look() // before reading, so that concurrent changes are read later
	var err error
	r.value, err = read()
	return r, err
}

// get returns the value of the files, at most a second old.
func (r *reread[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if now.Sub(r.looked) < rereadPause {
		return r.value
	}
	r.looked = now
	stamps := r.look()
	if same(stamps, r.stamps) {
		return r.value
	}
	r.stamps = stamps // a persistently invalid file is logged once
	value, err := r.read()
	if err != nil {
		r.log.Error(r.what+" changed but cannot be read; still using the previous version", "error", err)
		return r.value
	}
	r.value = value
	r.log.Info(r.what + " changed and was reloaded")
	return value
}

// look returns the current stamps of the files; a missing file has an empty stamp.
func (r *reread[T]) look() []stamp {
	stamps := make([]stamp, len(r.files))
	for i, file := range r.files {
		if info, err := os.Stat(file); err == nil {
			stamps[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return stamps
}

func same(a, b []stamp) bool {
	for i := range a {
		if !a[i].changed.Equal(b[i].changed) || a[i].size != b[i].size {
			return false
		}
	}
	return true
}
