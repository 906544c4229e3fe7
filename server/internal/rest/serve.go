package rest

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// Server serves routes.
type Server struct {
	Routes []*Route
	Log    *slog.Logger
	// Admit decides, before a request is read, whether its caller may make it.
	Admit func(ctx context.Context, endpoint *Endpoint) error
}

// Handler returns the handler for all paths below /api.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range s.Routes {
		mux.HandleFunc(route.Pattern(), func(w http.ResponseWriter, request *http.Request) { s.serve(route, w, request) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if _, pattern := mux.Handler(request); pattern == "" {
			s.nowhere(mux, w, request)
			return
		}
		mux.ServeHTTP(w, request)
	})
}

// nowhere responds to a request without a route. If the path has routes for other HTTP
// methods, it lists those.
func (s *Server) nowhere(mux *http.ServeMux, w http.ResponseWriter, request *http.Request) {
	var verbs []string
	for _, verb := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := request.Clone(request.Context())
		other.Method = verb
		if _, pattern := mux.Handler(other); pattern != "" {
			verbs = append(verbs, verb)
		}
	}
	if len(verbs) > 0 {
		w.Header().Set("Allow", strings.Join(verbs, ", "))
		Refuse(w, &Error{http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed here; use %s", request.Method, strings.Join(verbs, " or "))})
		return
	}
	Refuse(w, &Error{http.StatusNotFound, "there is nothing at " + request.URL.Path})
}

func (s *Server) serve(route *Route, w http.ResponseWriter, request *http.Request) {
	if err := s.Admit(request.Context(), route.Endpoint); err != nil {
		s.refuse(w, request, err)
		return
	}
	message, err := route.read(w, request)
	if err != nil {
		s.refuse(w, request, err)
		return
	}
	if route.Stream != nil {
		s.stream(route, message, w, request)
		return
	}
	answer, err := route.Call(request.Context(), message)
	if err == nil {
		err = s.answer(w, request, route.Status(), answer)
	}
	if request.Header.Get("If-Match") != "" && errors.Is(err, fairlead.ErrConflict) {
		err = &Error{http.StatusPreconditionFailed, err.Error()}
	}
	if err != nil {
		s.refuse(w, request, err)
	}
}

// refuse responds with a problem and logs the details that callers do not see.
func (s *Server) refuse(w http.ResponseWriter, request *http.Request, err error) {
	hidden := problemOf(err).Status == http.StatusInternalServerError || errors.Is(err, fairlead.ErrUnavailable)
	if hidden && request.Context().Err() == nil {
		s.Log.Error("request failed", "method", request.Method, "path", request.URL.Path, "error", err)
	}
	Refuse(w, err)
}

// Answer writes the response of an endpoint that has no route: message, or err as a problem.
func (s *Server) Answer(w http.ResponseWriter, request *http.Request, message proto.Message, err error) {
	if err == nil {
		err = s.answer(w, request, http.StatusOK, message)
	}
	if err != nil {
		s.refuse(w, request, err)
	}
}

// packFrom is the size in bytes from which a response is compressed.
const packFrom = 4 << 10

func (s *Server) answer(w http.ResponseWriter, request *http.Request, status int, message proto.Message) error {
	body, err := wire.Marshal(message)
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	if field := versionOf(message); field != nil {
		header.Set("ETag", strconv.Quote(strconv.FormatInt(message.ProtoReflect().Get(field).Int(), 10)))
	}
	body = append(body, '\n')
	if len(body) < packFrom || !strings.Contains(request.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body) // a caller that has disconnected needs no response
		return nil
	}
	header.Set("Content-Encoding", "gzip")
	header.Add("Vary", "Accept-Encoding")
	w.WriteHeader(status)
	packer, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	_, _ = packer.Write(body)
	_ = packer.Close()
	return nil
}

// heartbeat is the interval of comments that keep an idle stream from looking dead.
const heartbeat = 15 * time.Second

// stream responds with server-sent events, one per message.
func (s *Server) stream(route *Route, message proto.Message, w http.ResponseWriter, request *http.Request) {
	ctx, cancel := context.WithCancel(request.Context())
	defer cancel()
	events, result := make(chan proto.Message), make(chan error, 1)
	go func() {
		result <- route.Stream(ctx, message, func(event proto.Message) error {
			select {
			case events <- event:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	out := &eventWriter{w: w, flush: http.NewResponseController(w)}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var err error
	for err == nil {
		select {
		case event := <-events:
			err = out.send(event)
		case <-beat.C:
			err = out.comment()
		case err = <-result:
			switch {
			case err != nil && !out.begun:
				s.refuse(w, request, err)
			case err != nil && ctx.Err() == nil:
				if problemOf(err).Status == http.StatusInternalServerError {
					s.Log.Error("stream failed", "path", request.URL.Path, "error", err)
				}
				_ = out.fail(err) // a caller that has disconnected needs no response
			case err == nil:
				out.begin() // an empty stream is a valid response
			}
			return
		}
	}
	cancel() // the caller has disconnected
	<-result
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	begun bool
}

func (e *eventWriter) begin() {
	if e.begun {
		return
	}
	e.begun = true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-store")
	e.w.WriteHeader(http.StatusOK)
}

func (e *eventWriter) send(event proto.Message) error {
	body, err := wire.Marshal(event)
	if err != nil {
		return err
	}
	return e.write("data: " + string(body) + "\n\n")
}

// fail reports why a stream that has begun ends early.
func (e *eventWriter) fail(err error) error {
	body, err := json.Marshal(problemOf(err))
	if err != nil {
		return err
	}
	return e.write("event: error\ndata: " + string(body) + "\n\n")
}

func (e *eventWriter) comment() error { return e.write(":\n\n") }

func (e *eventWriter) write(text string) error {
	e.begin()
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.flush.Flush()
}
