package postgres

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// knownServer is the server that this process knows. A failover, or a crash that loses
// commits, leads to another one. The first statement of every transaction of the store
// compares them, and so does every statement that stores jobs: what this process has
// cached is valid only at the server that it comes from.
type knownServer struct {
	number  int64     // as in the row of server
	started time.Time // or when it crashed, whichever is later
	refused error     // why this process could not count it; nil if all processes agree on it
	pin     string    // the first statement of a transaction
	begin   string    // the begin of a transaction of several round trips
}

// anotherServer stands in a list of changed lanes for a server that is not the known
// one.
const anotherServer int32 = 0

// errAnotherServer is the error of a transaction that began at a server other than the
// known one. The transaction has changed nothing.
var errAnotherServer = errors.New("this is not the database that was used before")

// newServer returns a server with the statements that recognise it. The statements do
// not compare while no server is known.
func (s *Store) newServer(number int64, started time.Time) *knownServer {
	k := &knownServer{number: number, started: started, pin: s.sql.Pin}
	if !started.IsZero() {
		k.pin += strings.ReplaceAll(s.sql.SameServer, startedMark, started.UTC().Format("2006-01-02 15:04:05.999999+00"))
	}
	k.begin = "begin isolation level read committed; set local idle_in_transaction_session_timeout = " +
		strconv.FormatInt(s.options.IdleLimit.Milliseconds(), 10) + "; " + k.pin
	return k
}

// numberCall finds out whether another server was counted although this one was not
// restarted. An operator counts it after a restore, so looking from time to time is
// enough.
func (s *Store) numberCall() call {
	return call{sql: s.sql.ServerNumber, each: func(row sqlstore.Scanner) error {
		var number int64
		if err := row.Scan(&number); err != nil {
			return err
		}
		if known := s.server.Load(); number != known.number && !known.started.IsZero() {
			return errAnotherServer
		}
		return nil
	}}
}

// pin returns the first statement of a transaction that is about to begin.
func (s *Store) pin() string { return s.server.Load().pin }

var changedLanesText = regexp.MustCompile(`changed lanes ((?:\d+ ?)+)`)

// decodeError returns what a statement that failed on purpose has found: that the
// server or lanes differ from what this process knows. Their texts are part of the
// message in every language.
func decodeError(err error) error {
	const invalidTextRepresentation = "22P02"
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != invalidTextRepresentation {
		return err
	}
	if strings.Contains(refusal.Message, "another server since ") {
		return errAnotherServer
	}
	if parts := changedLanesText.FindStringSubmatch(refusal.Message); parts != nil {
		return changedLanes(parts[1])
	}
	return err
}

// changedLanes reads the list that the statements produce.
func changedLanes(list string) sqlstore.ChangedLanes {
	var lanes sqlstore.ChangedLanes
	for _, word := range strings.Fields(list) {
		id, _ := strconv.ParseInt(word, 10, 32) // they are always numbers
		lanes = append(lanes, int32(id))
	}
	return lanes
}

// renewTries bounds how often storing starts over: once for lanes that differ from the
// cached ones, once for lanes that a caller's transaction is too old to see, and a few
// more for lanes that change at the same time.
const renewTries = 5

// renewing runs f, which stores jobs, and repeats it if the lanes or the server differ
// from what this process knew. Each time f has to look up the lanes and take ids again.
func (s *Store) renewing(ctx context.Context, f func(ctx context.Context) error) error {
	for try := 1; ; try++ {
		err := f(ctx)
		if err == nil || try == renewTries {
			return err
		}
		if renewed, failed := s.renew(ctx, err); !renewed {
			return failed
		}
	}
}

// renewingIn is renewing for a caller's transaction. Lanes that do not match have left
// the transaction unchanged. It may be too old to see a lane that was just created: f
// gets the lanes that were since looked up on another connection.
func (s *Store) renewingIn(ctx context.Context, f func(ctx context.Context, confirmed map[int32]bool) error) error {
	confirmed := map[int32]bool{}
	return s.renewing(ctx, func(ctx context.Context) error {
		err := f(ctx, confirmed)
		if changed := sqlstore.ChangedLanes(nil); errors.As(err, &changed) {
			for _, lane := range changed {
				confirmed[lane] = true // if its names still have this id
			}
		}
		return err
	})
}

// renew reads what has changed if an error reports lanes, or a server, that are not
// known. It reports whether to repeat what has failed.
func (s *Store) renew(ctx context.Context, err error) (bool, error) {
	unknown, changed := unknownLanes(nil), sqlstore.ChangedLanes(nil)
	switch {
	case errors.As(err, &unknown):
		err = s.addLanes(ctx, unknown)
	case errors.As(err, &changed):
		err = nil
		for _, lane := range changed {
			if lane == anotherServer {
				err = s.recognise(ctx, s.server.Load())
			}
		}
		s.forgetLanes(changed...)
	default:
		return false, err
	}
	return err == nil, err
}
