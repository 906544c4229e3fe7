package overload

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Memory for request bodies. Callers of all roles share it.
const (
	largeBodies = 24 << 20  // maximum total size of all large bodies after decompression, in bytes
	SmallBody   = 64 << 10  // a body up to this size after decompression needs no share
	middleBody  = 1 << 20   // initial share of a body with unknown length
	MinRate     = 256 << 10 // minimum transfer rate of a body with a share, in bytes per second

	// Memory that a decoded request takes in addition to its bytes. A message of two bytes of
	// protobuf, or three of JSON, can take some hundred bytes.
	messageMemory = 384 // per message
	entryMemory   = 64  // per string or number in a list
	binaryMemory  = 64  // per byte of protobuf, before its messages can be counted
)

var errManyLarge = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many large requests are in progress; try again later"}

// RequestMemory limits the memory used for request bodies, for all protocols.
type RequestMemory struct {
	memory *semaphore.Weighted
}

// NewRequestMemory returns an unused RequestMemory.
func NewRequestMemory() *RequestMemory {
	return &RequestMemory{memory: semaphore.NewWeighted(largeBodies)}
}

// Handler limits the bodies of API requests to a size in bytes, and makes large bodies wait
// for memory. A body holds its share until its request is answered.
func (i *RequestMemory) Handler(limit int64, next http.Handler) http.Handler {
	return i.around(limit, next, func(r *http.Request, body *sharedBody) {
		body.packed, body.decoded, body.binary = packed(r.Header), true, isBinary(r.Header.Get("Content-Type"))
		if r.Context().Value(sharedBodyKey{}) != nil {
			// The console forwards data from a form. The bytes of the form already have a share.
			body.paid, body.limit = true, largeBodies-rest.MaxBody
		}
	})
}

// Forms does the same for forms, which are neither compressed nor decoded into messages.
func (i *RequestMemory) Forms(limit int64, next http.Handler) http.Handler {
	return i.around(limit, next, func(*http.Request, *sharedBody) {})
}

func (i *RequestMemory) around(limit int64, next http.Handler, describe func(*http.Request, *sharedBody)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &sharedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), ctx: r.Context(), memory: i.memory, length: r.ContentLength, limit: limit}
		describe(r, body)
		defer body.keep(0)
		own := r.WithContext(context.WithValue(r.Context(), sharedBodyKey{}, body))
		own.Body = body
		next.ServeHTTP(w, own)
	})
}

type sharedBodyKey struct{}

// SettleBody returns the part of a body's share that its message does not need: the share
// covers the maximum size of the body, and a call may take long.
func SettleBody(ctx context.Context, request proto.Message) {
	body, _ := ctx.Value(sharedBodyKey{}).(*sharedBody)
	if body == nil || body.share == 0 {
		return
	}
	size := int64(proto.Size(request)) + decodedMemory(request.ProtoReflect())
	if size <= SmallBody {
		size = 0
	}
	body.keep(size)
}

// decodedMemory returns the memory that a message takes in addition to its bytes.
func decodedMemory(message protoreflect.Message) (memory int64) {
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			memory += int64(value.Map().Len()) * messageMemory
		case field.IsList() && field.Message() == nil:
			memory += int64(value.List().Len()) * entryMemory
		case field.IsList():
			for i := range value.List().Len() {
				memory += messageMemory + decodedMemory(value.List().Get(i).Message())
			}
		case field.Message() != nil:
			memory += messageMemory + decodedMemory(value.Message())
		}
		return true
	})
	return memory
}

// isBinary reports whether a content type means protobuf, which is the default of gRPC.
func isBinary(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasSuffix(kind, "proto") || strings.HasSuffix(kind, "grpc") || strings.HasSuffix(kind, "grpc-web")
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
	limit  int64 // maximum share, and maximum size in bytes, both compressed and decompressed

	packed  bool
	decoded bool // whether it is decoded into messages
	binary  bool // whether it is protobuf, as opposed to JSON
	paid    bool // whether its bytes are part of another share

	read     int64
	messages int64         // maximum memory of the messages read so far, in bytes
	share    int64         // reserved memory
	waited   time.Duration // time spent waiting for data since the body has a share
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
	if err := b.acquire(b.needed(int64(len(p)))); err != nil {
		return 0, err
	}
	began := time.Now()
	n, err := b.ReadCloser.Read(p)
	took := time.Since(began)
	b.count(p[:n])
	if err := b.acquire(b.needed(0)); err != nil {
		return n, err
	}
	if b.share == 0 {
		return n, err
	}
	if b.waited += took; b.waited > Patience+time.Duration(b.read)*time.Second/MinRate {
		return n, ErrSlowBody
	}
	return n, err
}

// acquire waits until the body has a share of the given size.
func (b *sharedBody) acquire(needed int64) error {
	if needed <= b.share {
		return nil
	}
	// Two growing bodies could wait for each other, hence the timeout.
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	if err := b.memory.Acquire(ctx, needed-b.share); err != nil {
		return errManyLarge
	}
	b.share = needed
	return nil
}

// count adds to the number of bytes read and to the estimated memory of their messages. It
// estimates the number of messages from the characters that each of them needs.
func (b *sharedBody) count(data []byte) {
	b.read += int64(len(data))
	switch {
	case !b.decoded:
	case b.binary:
		b.messages += int64(len(data)) * binaryMemory
	default:
		b.messages += int64(bytes.Count(data, []byte("{")))*messageMemory + int64(bytes.Count(data, []byte(",")))*entryMemory
	}
}

// needed returns the share that the body needs before up to more bytes of it are read. A
// compressed body may need its whole limit.
func (b *sharedBody) needed(more int64) int64 {
	if b.packed {
		return b.limit
	}
	become := b.read + more
	if b.length >= 0 {
		become = b.length
	}
	if b.paid {
		become = 0
	}
	become += b.messages
	switch {
	case become <= SmallBody:
		return 0
	case b.length >= 0 || b.messages > 0:
		return min(become, b.limit)
	case become <= middleBody:
		return middleBody
	default:
		return b.limit
	}
}
