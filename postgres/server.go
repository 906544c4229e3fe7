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

// knownServer is the server that this process knows. A failover, or a crash that
// loses commits, leads to another one. Every transaction of the store's own compares
// them in its first statement, and every statement that stores jobs does so too: what
// this process has cached is only believed at the server that it comes from.
type knownServer struct {
	number  int64     // as the row of server has it
	started time.Time // or crashed, whichever is later
	refused error     // why this process could not count it; nil if all processes agree on it
	pin     string    // first statement of a transaction
	begin   string    // starts a transaction of several round trips
}

// anotherServer stands among changed lanes for a server that is not the known one.
const anotherServer int32 = 0

// errAnotherServer is the error of a transaction that was begun at a server which is
// not the known one. It has done nothing.
var errAnotherServer = errors.New("the database is another one than before")

// newServer is a server with the statements that recognise it. They stay without that
// as long as no server is known.
func (s *Store) newServer(number int64, started time.Time) *knownServer {
	k := &knownServer{number: number, started: started, pin: s.sql.Pin}
	if !started.IsZero() {
		k.pin += strings.ReplaceAll(s.sql.SameServer, startedMark, started.UTC().Format("2006-01-02 15:04:05.999999+00"))
	}
	k.begin = "begin isolation level read committed; set local idle_in_transaction_session_timeout = " +
		strconv.FormatInt(s.options.IdleLimit.Milliseconds(), 10) + "; " + k.pin
	return k
}

// numberCall finds out whether another server was counted though this one was not
// started again. That is told by an operator, after a restore: it is enough to look now
// and then.
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

// pin is the first statement of a transaction that is about to begin.
func (s *Store) pin() string { return s.server.Load().pin }

var changedLanesText = regexp.MustCompile(`changed lanes ((?:\d+ ?)+)`)

// decodeError tells what a statement that failed on purpose has found: that the server
// or lanes are not as this process knows them. Their texts are part of the message in
// every language.
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

// changedLanes reads the list that the statements make.
func changedLanes(list string) sqlstore.ChangedLanes {
	var lanes sqlstore.ChangedLanes
	for _, word := range strings.Fields(list) {
		id, _ := strconv.ParseInt(word, 10, 32) // they are numbers
		lanes = append(lanes, int32(id))
	}
	return lanes
}

// renewTries bounds how often storing is begun anew: once for lanes that are not as
// they are known, once for those that a caller's transaction is too old to see, and
// some more for others that change at the same time.
const renewTries = 5

// renewing runs what stores jobs, and again if the lanes or the server are not as this
// process knew them. Each time f has to look the lanes up, and to take ids, anew.
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

// renewingIn is renewing for a caller's transaction, which lanes that do not match have
// left as it was. Such a transaction may be too old to see a lane that was just made:
// f gets the lanes that were looked up on another connection since.
func (s *Store) renewingIn(ctx context.Context, f func(ctx context.Context, confirmed map[int32]bool) error) error {
	confirmed := map[int32]bool{}
	return s.renewing(ctx, func(ctx context.Context) error {
		err := f(ctx, confirmed)
		if changed := sqlstore.ChangedLanes(nil); errors.As(err, &changed) {
			for _, lane := range changed {
				confirmed[lane] = true // if its names have this id again
			}
		}
		return err
	})
}

// renew learns what is new if an error tells of lanes, or of a server, that are not
// known. It reports whether what has failed may be tried again.
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
