package overload

import (
	"context"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/receiver"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Memory for responses, until their callers have received them.
const (
	largeAnswers = 32 << 20 // maximum total size of all large responses, in bytes
	CallerLimit  = 16 << 20 // maximum total size of the large responses to one caller
	LargeShare   = 4 << 20  // memory that a call reserves before it reads documents
	smallAnswer  = 64 << 10 // a complete response up to this size needs no share
	answerCopies = 3        // a response is in memory as rows, as a message and in encoded form

	// A repeated call reserves SmallShare if its last response was small.
	SmallShare = 256 << 10
)

// PageBytes limits the total size of the documents in a page of any list. A single row may
// exceed it.
const PageBytes = 1 << 20

// Maximum numbers of streams and waiting calls that one caller may have open.
const (
	callerStreams = 200
	workerStreams = 4000 // one token may serve a whole fleet of workers
)

var (
	// ErrManyResponses is the error for a call that found no memory for its response.
	ErrManyResponses = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many large responses are in progress; try again later"}
	errManyStreams   = &rest.Error{Status: http.StatusTooManyRequests, Detail: "the caller has too many streams open; close some"}
)

// ResponseMemory limits the memory used for responses, for all protocols. It is the counterpart of
// RequestMemory, which limits request bodies.
type ResponseMemory struct {
	memory *semaphore.Weighted

	mu      sync.Mutex
	callers map[string]*peer
}

// peer is a caller with requests in progress.
type peer struct {
	memory   *semaphore.Weighted
	requests int // number of requests in progress
	streams  int
}

// NewResponseMemory returns an unused ResponseMemory.
func NewResponseMemory() *ResponseMemory {
	return &ResponseMemory{memory: semaphore.NewWeighted(largeAnswers), callers: map[string]*peer{}}
}

// Handler makes responses share the memory. A response holds its share until it is written,
// and a caller that receives it too slowly is disconnected.
func (o *ResponseMemory) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, a, end := o.Begin(r.Context(), caller.Of(r.Context()).Identity.Name)
		defer end()
		next.ServeHTTP(&pacedWriter{Writer: receiver.NewWriter(w, Patience, MinRate), answer: a}, r.WithContext(ctx))
	})
}

// Begin returns the context of a request of the named caller, in which calls can reserve
// memory. end returns the memory; call it when the response is written.
func (o *ResponseMemory) Begin(ctx context.Context, name string) (own context.Context, a *Reservation, end func()) {
	a = &Reservation{responses: o, caller: o.arrive(name)}
	return context.WithValue(ctx, reservationKey{}, a), a, func() {
		a.Settle(0)
		o.leave(name, a.caller)
	}
}

func (o *ResponseMemory) arrive(name string) *peer {
	o.mu.Lock()
	defer o.mu.Unlock()
	caller := o.callers[name]
	if caller == nil {
		caller = &peer{memory: semaphore.NewWeighted(CallerLimit)}
		o.callers[name] = caller
	}
	caller.requests++
	return caller
}

func (o *ResponseMemory) leave(name string, caller *peer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if caller.requests--; caller.requests == 0 {
		delete(o.callers, name)
	}
}

// Reservation is a request in progress.
type Reservation struct {
	responses *ResponseMemory
	caller    *peer

	mu    sync.Mutex
	share int64
}

type reservationKey struct{}

// Reserve waits for the memory that a call needs before it reads documents: LargeShare,
// unless the caller expects a small response. The memory must be returned with settle, at
// the latest by the handler. Without a ResponseMemory, as in a call within another program,
// reserve does nothing.
func Reserve(ctx context.Context, share int64) (*Reservation, error) {
	a, _ := ctx.Value(reservationKey{}).(*Reservation)
	if a == nil {
		return nil, nil
	}
	patient, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := a.caller.memory.Acquire(patient, share); err != nil {
		return nil, ErrManyResponses
	}
	if err := a.responses.memory.Acquire(patient, share); err != nil {
		a.caller.memory.Release(share)
		return nil, ErrManyResponses
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.share += share
	return a, nil
}

// Covers reports whether the share suffices for a response of the given size. If necessary
// and possible, it enlarges the share. An LargeShare always suffices.
func (a *Reservation) Covers(bytes int) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	more := ShareFor(bytes) - a.share
	if more <= 0 || a.share >= LargeShare {
		return true
	}
	if !a.caller.memory.TryAcquire(more) {
		return false
	}
	if !a.responses.memory.TryAcquire(more) {
		a.caller.memory.Release(more)
		return false
	}
	a.share += more
	return true
}

// ShareFor returns the memory that a complete response of the given size needs.
func ShareFor(bytes int) int64 {
	if bytes <= smallAnswer {
		return 0
	}
	return int64(bytes) * answerCopies
}

// Settle returns the reserved memory that a response of the given size does not need.
func (a *Reservation) Settle(bytes int) {
	if a == nil {
		return
	}
	needed := ShareFor(bytes)
	a.mu.Lock()
	defer a.mu.Unlock()
	if excess := a.share - needed; excess > 0 {
		a.caller.memory.Release(excess)
		a.responses.memory.Release(excess)
		a.share = needed
	}
}

// large reports whether the response holds a share of the memory.
func (a *Reservation) large() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.share > 0
}

// WithMemory performs a call with memory for a response that may be large.
func WithMemory(ctx context.Context, endpoint *rest.Endpoint, call func() (proto.Message, error)) (proto.Message, error) {
	if authn.Lasts(endpoint) || !mayBeLarge(endpoint.Method.Output()) {
		return call()
	}
	share, err := Reserve(ctx, LargeShare)
	if err != nil {
		return nil, err
	}
	answer, err := call()
	if err != nil {
		share.Settle(0)
		return nil, err
	}
	share.Settle(proto.Size(answer))
	return answer, nil
}

// mayBeLarge reports whether messages of a type contain documents or lists of messages.
func mayBeLarge(message protoreflect.MessageDescriptor) bool {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if field.Kind() == protoreflect.BytesKind || field.IsList() && field.Message() != nil {
			return true
		}
	}
	return false
}

// OpenStream counts a stream or waiting call of the caller. It returns an error if the
// caller has too many.
func OpenStream(ctx context.Context) (closed func(), err error) {
	a, _ := ctx.Value(reservationKey{}).(*Reservation)
	if a == nil {
		return func() {}, nil
	}
	most := callerStreams
	if who := caller.Of(ctx).Identity; who.Role == access.RoleWorker || who.Name == caller.Local.Name {
		most = workerStreams // without tokens, all workers are one caller
	}
	a.responses.mu.Lock()
	defer a.responses.mu.Unlock()
	if a.caller.streams >= most {
		return nil, errManyStreams
	}
	a.caller.streams++
	return func() {
		a.responses.mu.Lock()
		defer a.responses.mu.Unlock()
		a.caller.streams--
	}, nil
}

// pacedWriter disconnects callers that receive a large response too slowly, because others
// wait for its memory.
type pacedWriter struct {
	*receiver.Writer
	answer *Reservation
}

// Write writes in pieces.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	if !w.answer.large() {
		return w.ResponseWriter.Write(p)
	}
	return w.Writer.Write(p)
}
