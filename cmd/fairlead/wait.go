package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	waitUnsaid  = 3 * time.Second // time for opening a database before the log mentions the delay
	waitPause   = time.Second     // delay between two attempts
	waitAgain   = time.Minute     // interval at which the log repeats what the start is waiting for
	waitUnknown = "the database to respond"
)

// awaitDatabase opens the database of a node. It waits for a database that does not exist
// yet or that another process is upgrading, because the parts of a cluster may start in any
// order. Permanent errors, such as a wrong password, fail immediately. In the meantime the
// lobby answers probes.
func (o serveOptions) awaitDatabase(ctx context.Context, log *slog.Logger, lobby *lobby, options databaseOptions) (migratingStore, error) {
	wait := &startWait{log: log.With("db", shown(o.db)), lobby: lobby, whom: waitUnknown}
	defer wait.end()
	options.waiting = wait.forWhom
	begun := time.Now()
	slow := time.AfterFunc(waitUnsaid, wait.say)
	defer slow.Stop()
	for {
		store, err := openDatabase(ctx, o.db, options)
		waited := time.Since(begun)
		switch {
		case err == nil:
			wait.opened(waited)
			return store, nil
		case !errors.Is(err, fairlead.ErrUnavailable) || o.dbWait == 0:
			return nil, err
		case waited >= o.dbWait:
			return nil, fmt.Errorf("database still unavailable after %v (--db-wait): %w", waited.Round(time.Second), err)
		}
		wait.failed(err)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(waitPause/2 + rand.N(waitPause)):
		}
	}
}

// startWait logs what a start is waiting for: once it is known, and then every minute.
type startWait struct {
	log   *slog.Logger
	lobby *lobby

	mu    sync.Mutex
	whom  string
	cause error // error of the last attempt
	said  time.Time
	ended bool
}

// forWhom records that a store waits for another process. Stores call it.
func (w *startWait) forWhom(whom string) {
	w.mu.Lock()
	w.whom, w.cause, w.said = whom, nil, time.Time{}
	w.mu.Unlock()
	w.say()
}

// failed records a failed attempt to open the database.
func (w *startWait) failed(err error) {
	w.mu.Lock()
	w.whom, w.cause = waitUnknown, err
	w.mu.Unlock()
	w.say()
}

// say logs what the start is waiting for, unless that was logged recently, and schedules
// the next message.
func (w *startWait) say() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || time.Since(w.said) < waitAgain {
		return
	}
	w.said = time.Now()
	attrs := []any{"for", w.whom}
	if w.cause != nil {
		attrs = append(attrs, "because", w.cause)
	}
	w.log.Warn("startup waiting", attrs...)
	public, _, _ := strings.Cut(w.whom, ":") // the details are only for the log
	if err := w.lobby.open(public); err != nil {
		w.log.Warn("cannot answer probes while startup is waiting", "because", err)
	}
	time.AfterFunc(waitAgain, w.say)
}

// opened logs that the database is open, if its absence was logged.
func (w *startWait) opened(waited time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.said.IsZero() {
		w.log.Info("startup continuing: database opened", "after", waited.Round(time.Millisecond))
	}
}

// end stops the messages.
func (w *startWait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
}
