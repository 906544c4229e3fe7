package server

import (
	"context"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-io/fairlead/internal/rest"
)

// Memory that bodies of requests may take. Callers of every role share it.
const (
	largeBodies = 24 << 20 // bytes that all large bodies together may become
	smallBody   = 64 << 10 // a body that becomes no more needs no share of it
	middleBody  = 1 << 20  // the first share of a body whose length is not known

	// inflation is how many bytes gzip can make of one.
	inflation = 1032
)

var errManyLarge = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many large requests at once; try again later"}

// intake bounds the memory that is used for bodies of requests, on every protocol.
type intake struct {
	memory *semaphore.Weighted
}

func newIntake() *intake { return &intake{memory: semaphore.NewWeighted(largeBodies)} }

// handler bounds the bodies of requests to a limit in bytes, and lets large ones wait
// for each other. A body has its share of the memory until its request is answered.
func (i *intake) handler(limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &sharedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), ctx: r.Context(), memory: i.memory, length: r.ContentLength, limit: limit, packed: packed(r.Header)}
		defer func() { i.memory.Release(body.share) }()
		own := *r
		own.Body = body
		next.ServeHTTP(w, &own)
	})
}

// packed reports whether a body is compressed, as each of the protocols says it.
func packed(header http.Header) bool {
	for _, name := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		if encoding := header.Get(name); encoding != "" && encoding != "identity" {
			return true
		}
	}
	return false
}

// sharedBody is a body that is read as far as there is memory for what it becomes.
type sharedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request whose body it is
	memory *semaphore.Weighted
	length int64 // as the caller says; -1: unknown
	limit  int64 // bytes, packed and unpacked
	packed bool
	read   int64
	share  int64 // of the memory
}

// Read reads on. It fails if too many other large bodies are there for long.
func (b *sharedBody) Read(p []byte) (int, error) {
	if needed := b.needed(int64(len(p))); needed > b.share {
		// Two bodies that both grow could wait for each other, hence not for long.
		ctx, cancel := context.WithTimeout(b.ctx, bodyPatience)
		defer cancel()
		if err := b.memory.Acquire(ctx, needed-b.share); err != nil {
			return 0, errManyLarge
		}
		b.share = needed
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err
}

// needed returns the share that the body needs before up to more bytes of it are read.
func (b *sharedBody) needed(more int64) int64 {
	become := b.read + more
	if b.length >= 0 {
		become = min(become, b.length)
	}
	if b.packed {
		become *= inflation
	} else if b.length >= 0 {
		become = b.length
	}
	switch {
	case become <= smallBody:
		return 0
	case b.length >= 0 && !b.packed:
		return min(b.length, b.limit)
	case become <= middleBody:
		return middleBody
	default:
		return b.limit
	}
}
