package sqlstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// OnceStatements holds the SQL statements for idempotent requests.
type OnceStatements struct {
	Answered       string `sql:"answered"`
	NoteRequest    string `sql:"note_request"`
	NotedRequest   string `sql:"noted_request"`
	CorrectRequest string `sql:"correct_request"`
}

// OnceStore is a store that reserves IDs for new jobs before the transaction that stores them.
// Other transactions may commit in between.
type OnceStore interface {
	Database
	// CheckPending returns ErrLimit if the jobs exceed a tenant's limit of pending jobs.
	CheckPending(ctx context.Context, jobs []*fairlead.Job) error
	// EnqueueNoted records a request with OnceStatements.Note and stores its jobs unless
	// the request is a repetition, in one transaction. It sets the IDs of the jobs.
	EnqueueNoted(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (repeated bool, err error)
}

// EnqueueOnce stores jobs unless an earlier call with the same request has stored them. It
// reports whether the call is a repetition, and sets the job IDs in either case.
func (s *OnceStatements) EnqueueOnce(ctx context.Context, store OnceStore, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	if len(jobs) == 0 {
		return false, nil
	}
	if repeated, err := s.repeat(ctx, store, once, jobs); repeated || err != nil {
		return repeated, err
	}
	if refusal := store.CheckPending(ctx, jobs); refusal != nil {
		// Meanwhile, the same request may have been answered with the jobs that leave no
		// room for these.
		if repeated, err := s.repeat(ctx, store, once, jobs); repeated || err != nil {
			return repeated, err
		}
		return false, fmt.Errorf("enqueue once: %w", refusal)
	}
	return store.EnqueueNoted(ctx, once, jobs)
}

// repeat looks for an earlier answer to the request and, if there is one, sets the IDs of
// the jobs from it.
func (s *OnceStatements) repeat(ctx context.Context, database Database, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	found, err := readList(ctx, database.Read, "enqueue once", scanAnswer, s.Answered, once.Caller, once.Key)
	if err != nil || len(found) == 0 {
		return false, err
	}
	ids, err := found[0].jobIDs(once, len(jobs))
	if err != nil {
		return false, fmt.Errorf("enqueue once: %w", err)
	}
	for i, id := range ids {
		jobs[i].ID = id
	}
	return true, nil
}

// Find returns the job IDs of an earlier identical request. answered is false if there was no
// such request.
func (s *OnceStatements) Find(ctx context.Context, db DB, once fairlead.Once, jobs int) (ids []int64, answered bool, err error) {
	found, err := list(ctx, db, scanAnswer, s.Answered, once.Caller, once.Key)
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	ids, err = found[0].jobIDs(once, jobs)
	return ids, true, err
}

// Note records a request with the IDs reserved for its jobs. If the request has been recorded
// before, Note returns the IDs of the earlier jobs instead. Note locks the request's key
// first, so concurrent identical requests wait for each other. Reserved IDs are unique to one
// call, so they show which call wrote the record.
func (s *OnceStatements) Note(ctx context.Context, db DB, once fairlead.Once, ids []int64) (before []int64, repeated bool, err error) {
	mine := encodeIDs(ids)
	db.Queue(s.NoteRequest, once.Caller, once.Key, once.Request[:], JSON(mine))
	noted, err := list(ctx, db, scanAnswer, s.NotedRequest, once.Caller, once.Key)
	switch {
	case err != nil:
		return nil, false, err
	case len(noted) == 0:
		return nil, false, fmt.Errorf("the request %q is missing although it was locked", once.Key)
	case bytes.Equal(noted[0].ids, mine):
		return nil, false, nil
	}
	before, err = noted[0].jobIDs(once, len(ids))
	return before, true, err
}

// NoteFirst works like Note, but also supports databases with a single writer, in which no
// other transaction can intervene.
func (s *OnceStatements) NoteFirst(ctx context.Context, db DB, once fairlead.Once, ids []int64) (before []int64, repeated bool, err error) {
	if s.NotedRequest != "" {
		return s.Note(ctx, db, once, ids)
	}
	if before, repeated, err = s.Find(ctx, db, once, len(ids)); err == nil && !repeated {
		err = s.NoteAnswer(ctx, db, once, ids)
	}
	return before, repeated, err
}

// NoteAnswer records a request and the IDs of the jobs that the request has stored.
func (s *OnceStatements) NoteAnswer(ctx context.Context, db DB, once fairlead.Once, ids []int64) error {
	_, err := db.Exec(ctx, s.NoteRequest, once.Caller, once.Key, once.Request[:], JSON(encodeIDs(ids)))
	return err
}

// Correct replaces the job IDs of a request that this transaction has recorded. It is needed
// if some of the request's jobs turn out to exist already under their keys.
func (s *OnceStatements) Correct(ctx context.Context, db DB, once fairlead.Once, ids []int64) error {
	_, err := db.Exec(ctx, s.CorrectRequest, JSON(encodeIDs(ids)), once.Caller, once.Key)
	return err
}

// answer is the stored record of an idempotent request.
type answer struct {
	request []byte // hash of the request
	ids     []byte // IDs of its jobs, as JSON
}

// scanAnswer reads request and job_ids.
func scanAnswer(row Scanner) (a answer, err error) {
	err = row.Scan(&a.request, &a.ids)
	return a, err
}

// jobIDs returns the job IDs of a repeated request. It returns ErrConflict if the stored
// request is a different one.
func (a answer) jobIDs(once fairlead.Once, jobs int) ([]int64, error) {
	if !bytes.Equal(a.request, once.Request[:]) {
		return nil, onceTaken(once)
	}
	var ids []int64
	if err := json.Unmarshal(a.ids, &ids); err != nil {
		return nil, fmt.Errorf("jobs of the request %q: %w", once.Key, err)
	}
	if len(ids) != jobs {
		return nil, onceTaken(once)
	}
	return ids, nil
}

func onceTaken(once fairlead.Once) error {
	return fmt.Errorf("the idempotency key %q was used for another request; choose a new one: %w", once.Key, fairlead.ErrConflict)
}

// encodeIDs returns IDs as JSON.
func encodeIDs(ids []int64) []byte {
	text, err := json.Marshal(ids)
	if err != nil {
		panic(err) // numbers always encode
	}
	return text
}
