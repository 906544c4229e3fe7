package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
)

const (
	// secretsFresh is how long the confidential fields that were read are used. They are read when
	// a handler returns an error, not for each job.
	secretsFresh = time.Second
	// secretsWait bounds the time for which a failed run waits for a store that does not answer.
	secretsWait = time.Second
)

// secrets knows which fields of jobs are confidential: those that the store has, and those that the
// node's own handlers declare.
type secrets struct {
	store fairlead.Confider     // nil: the source is a service, which does not tell the fields
	own   fairlead.Confidential // by the node's handlers

	mu     sync.Mutex
	stored fairlead.Confidential // nil: they could not be read
	readAt time.Time
}

func newSecrets(source any, mux *fairlead.Mux) *secrets {
	store, _ := source.(fairlead.Confider)
	return &secrets{store: store, own: mux.Confidential()}
}

// fields returns the confidential fields of a job. If they cannot be read, all its documents are
// confidential.
func (s *secrets) fields(kind string, args json.RawMessage) []string {
	own := mask.Fields(s.own, kind, args)
	if s.store == nil {
		return own
	}
	stored := s.read()
	if stored == nil {
		return mask.Documents
	}
	return slices.Concat(own, mask.Fields(stored, kind, args))
}

// read returns the fields that the store has, or nil if they cannot be read. It asks the store at
// most once a second, also if the store does not answer.
func (s *secrets) read() fairlead.Confidential {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := time.Since(s.readAt); !s.readAt.IsZero() && age >= 0 && age < secretsFresh {
		return s.stored
	}
	ctx, cancel := context.WithTimeout(context.Background(), secretsWait) // the context of the run may have ended
	defer cancel()
	stored, err := s.store.Confidential(ctx)
	if err != nil {
		stored = nil
	}
	s.stored, s.readAt = stored, time.Now()
	return stored
}

// hide masks the confidential values of the job in a text.
func (r *run) hide(text string) string {
	if r.secrets == nil || text == "" {
		return text
	}
	r.mu.Lock()
	job := mask.Job{Args: r.args, Output: r.output, Progress: r.progress, Reported: r.saved.Progress, Memo: r.memo}
	saved, more := r.saved.Memo, r.sweepArgs
	r.mu.Unlock()
	for _, args := range more {
		text = mask.Secrets(r.secrets.fields(r.job.Kind, args), mask.Job{Args: args}).Text(text)
	}
	fields := r.secrets.fields(r.job.Kind, job.Args)
	if len(fields) == 0 {
		return text
	}
	text = mask.Secrets(fields, job).Text(text)
	if saved != nil {
		text = mask.Secrets(fields, mask.Job{Memo: saved}).Text(text)
	}
	return text
}

// keptArgs is how many versions of the args of a sweep are masked: calls with the previous ones may
// not have ended when the args change.
const keptArgs = 2

// addArgs notes the args of a sweep, to mask them in errors and spans.
func (r *run) addArgs(args json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweepArgs = append(slices.Clone(r.sweepArgs[max(0, len(r.sweepArgs)-keptArgs+1):]), args)
}

// note keeps what the handler saves, to mask it in errors.
func (r *run) note(save fairlead.Save) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if save.Progress != nil {
		r.saved.Progress = save.Progress
	}
	if save.Memo != nil {
		r.saved.Memo = save.Memo
	}
}
