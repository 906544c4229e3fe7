package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/rest"
)

// Memory for request bodies. Callers of all roles share it.
const (
	largeBodies = 24 << 20  // maximum total size of all large bodies after decompression, in bytes
	smallBody   = 64 << 10  // a body up to this size after decompression needs no share
	middleBody  = 1 << 20   // initial share of a body with unknown length
	sharedRate  = 256 << 10 // minimum transfer rate of a body with a share, in bytes per second

	// inflation is the maximum compression ratio of gzip.
	inflation = 1032
)

var errManyLarge = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many large requests are in progress; try again later"}

// intake limits the memory used for request bodies, for all protocols.
type intake struct {
	memory *semaphore.Weighted
}

func newIntake() *intake { return &intake{memory: semaphore.NewWeighted(largeBodies)} }

// handler limits the bodies of requests to a size in bytes, and makes large bodies wait for
// memory. A body holds its share until its request is answered.
func (i *intake) handler(limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		if r.Context().Value(sharedBodyKey{}) != nil {
			// The console calls with what it was sent in a form, which has its share.
			own := r.WithContext(context.WithValue(r.Context(), sharedBodyKey{}, (*sharedBody)(nil)))
			own.Body = http.MaxBytesReader(w, r.Body, limit)
			next.ServeHTTP(w, own)
			return
		}
		body := &sharedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), ctx: r.Context(), memory: i.memory, length: r.ContentLength, limit: limit, packed: packed(r.Header)}
		defer body.keep(0)
		own := r.WithContext(context.WithValue(r.Context(), sharedBodyKey{}, body))
		own.Body = body
		next.ServeHTTP(w, own)
	})
}

type sharedBodyKey struct{}

// settleShare returns the part of a body's share that its message does not need: the share
// covers the maximum size of the body, and a call may take long.
func settleShare(ctx context.Context, request proto.Message) {
	body, _ := ctx.Value(sharedBodyKey{}).(*sharedBody)
	if body == nil || body.share == 0 {
		return
	}
	size := int64(proto.Size(request))
	if size <= smallBody {
		size = 0
	}
	body.keep(size)
}

// packed reports whether a body is compressed, in any of the protocols.
func packed(header http.Header) bool {
	for _, name := range []string{"Content-Encoding", "Grpc-Encoding", "Connect-Content-Encoding"} {
		if encoding := header.Get(name); encoding != "" && encoding != "identity" {
			return true
		}
	}
	return false
}

// sharedBody is a body that is read as memory for its decompressed size becomes available.
type sharedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request whose body it is
	memory *semaphore.Weighted
	length int64 // length given by the caller; -1 = unknown
	limit  int64 // maximum size in bytes, both compressed and decompressed
	packed bool
	read   int64
	share  int64         // reserved memory
	waited time.Duration // time spent waiting for data since the body has a share
}

// keep reduces the share to the given number of bytes.
func (b *sharedBody) keep(bytes int64) {
	if bytes < b.share {
		b.memory.Release(b.share - bytes)
		b.share = bytes
	}
}

// Read reads from the body. It fails if other large bodies hold the memory for too long, or
// if a body with a share, for which others wait, arrives too slowly.
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
	began := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.share == 0 {
		return n, err
	}
	if b.waited += time.Since(began); b.waited > bodyPatience+time.Duration(b.read)*time.Second/sharedRate {
		return n, errSlowBody
	}
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
