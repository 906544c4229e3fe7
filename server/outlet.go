package server

import (
	"context"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/receiver"
	"github.com/fairlead-io/fairlead/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// Memory for responses, until their callers have received them.
const (
	largeAnswers  = 32 << 20 // maximum total size of all large responses, in bytes
	callerAnswers = 16 << 20 // maximum total size of the large responses to one caller
	answerShare   = 4 << 20  // memory that a call reserves before it reads documents
	smallAnswer   = 64 << 10 // a complete response up to this size needs no share
	answerCopies  = 3        // a response is in memory as rows, as a message and in encoded form

	// A repeated call reserves expectedShare if its last response was small.
	expectedShare = 256 << 10
)

// Maximum numbers of streams and waiting calls that one caller may have open.
const (
	callerStreams = 200
	workerStreams = 4000 // one token may serve a whole fleet of workers
)

var (
	errManyAnswers = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "too many large responses are in progress; try again later"}
	errManyStreams = &rest.Error{Status: http.StatusTooManyRequests, Detail: "the caller has too many streams open; close some"}
)

// outlet limits the memory used for responses, for all protocols. It is the counterpart of
// intake, which limits request bodies.
type outlet struct {
	memory *semaphore.Weighted

	mu      sync.Mutex
	callers map[string]*customer
}

// customer is a caller with requests in progress.
type customer struct {
	memory   *semaphore.Weighted
	requests int // number of requests in progress
	streams  int
}

func newOutlet() *outlet {
	return &outlet{memory: semaphore.NewWeighted(largeAnswers), callers: map[string]*customer{}}
}

// handler makes responses share the memory. A response holds its share until it is written,
// and a caller that receives it too slowly is disconnected.
func (o *outlet) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := caller.Of(r.Context()).Identity.Name
		a := &answering{outlet: o, caller: o.arrive(name)}
		defer o.leave(name, a.caller)
		defer a.settle(0)
		next.ServeHTTP(&pacedWriter{Writer: receiver.NewWriter(w, bodyPatience, sharedRate), answer: a}, r.WithContext(context.WithValue(r.Context(), answeringKey{}, a)))
	})
}

func (o *outlet) arrive(name string) *customer {
	o.mu.Lock()
	defer o.mu.Unlock()
	caller := o.callers[name]
	if caller == nil {
		caller = &customer{memory: semaphore.NewWeighted(callerAnswers)}
		o.callers[name] = caller
	}
	caller.requests++
	return caller
}

func (o *outlet) leave(name string, caller *customer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if caller.requests--; caller.requests == 0 {
		delete(o.callers, name)
	}
}

// answering is a request in progress.
type answering struct {
	outlet *outlet
	caller *customer

	mu    sync.Mutex
	share int64
}

type answeringKey struct{}

// reserve waits for the memory that a call needs before it reads documents: answerShare,
// unless the caller expects a small response. The memory must be returned with settle, at
// the latest by the handler. Without an outlet, as in a call within another program,
// reserve does nothing.
func reserve(ctx context.Context, share int64) (*answering, error) {
	a, _ := ctx.Value(answeringKey{}).(*answering)
	if a == nil {
		return nil, nil
	}
	patient, cancel := context.WithTimeout(ctx, bodyPatience)
	defer cancel()
	if err := a.caller.memory.Acquire(patient, share); err != nil {
		return nil, errManyAnswers
	}
	if err := a.outlet.memory.Acquire(patient, share); err != nil {
		a.caller.memory.Release(share)
		return nil, errManyAnswers
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.share += share
	return a, nil
}

// covers reports whether the share suffices for a response of the given size. If necessary
// and possible, it enlarges the share. An answerShare always suffices.
func (a *answering) covers(bytes int) bool {
	if a == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	more := neededShare(bytes) - a.share
	if more <= 0 || a.share >= answerShare {
		return true
	}
	if !a.caller.memory.TryAcquire(more) {
		return false
	}
	if !a.outlet.memory.TryAcquire(more) {
		a.caller.memory.Release(more)
		return false
	}
	a.share += more
	return true
}

// neededShare returns the memory that a complete response of the given size needs.
func neededShare(bytes int) int64 {
	if bytes <= smallAnswer {
		return 0
	}
	return int64(bytes) * answerCopies
}

// settle returns the reserved memory that a response of the given size does not need.
func (a *answering) settle(bytes int) {
	if a == nil {
		return
	}
	needed := neededShare(bytes)
	a.mu.Lock()
	defer a.mu.Unlock()
	if excess := a.share - needed; excess > 0 {
		a.caller.memory.Release(excess)
		a.outlet.memory.Release(excess)
		a.share = needed
	}
}

// large reports whether the response holds a share of the memory.
func (a *answering) large() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.share > 0
}

// answered performs a call with memory for a response that may be large.
func answered(ctx context.Context, endpoint *rest.Endpoint, call func() (proto.Message, error)) (proto.Message, error) {
	if authn.Lasts(endpoint) || !mayBeLarge(endpoint.Method.Output()) {
		return call()
	}
	share, err := reserve(ctx, answerShare)
	if err != nil {
		return nil, err
	}
	answer, err := call()
	if err != nil {
		share.settle(0)
		return nil, err
	}
	share.settle(proto.Size(answer))
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

// openStream counts a stream or waiting call of the caller. It returns an error if the
// caller has too many.
func openStream(ctx context.Context) (closed func(), err error) {
	a, _ := ctx.Value(answeringKey{}).(*answering)
	if a == nil {
		return func() {}, nil
	}
	most := callerStreams
	if who := caller.Of(ctx).Identity; who.Role == access.RoleWorker || who.Name == caller.Local.Name {
		most = workerStreams // without tokens, all workers are one caller
	}
	a.outlet.mu.Lock()
	defer a.outlet.mu.Unlock()
	if a.caller.streams >= most {
		return nil, errManyStreams
	}
	a.caller.streams++
	return func() {
		a.outlet.mu.Lock()
		defer a.outlet.mu.Unlock()
		a.caller.streams--
	}, nil
}

// pacedWriter disconnects callers that receive a large response too slowly, because others
// wait for its memory.
type pacedWriter struct {
	*receiver.Writer
	answer *answering
}

// Write writes in pieces.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	if !w.answer.large() {
		return w.ResponseWriter.Write(p)
	}
	return w.Writer.Write(p)
}
