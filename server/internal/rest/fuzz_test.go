package rest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/fairlead-io/fairlead/api/fairlead/v1" // the schema
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// echoes returns routes for all methods of the schema. Each route returns an empty
// response.
func echoes(t testing.TB) []*rest.Route {
	var endpoints []*rest.Endpoint
	protoregistry.GlobalFiles.RangeFilesByPackage("fairlead.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				endpoints = append(endpoints, echo(t, file.Services().Get(i).Methods().Get(j)))
			}
		}
		return true
	})
	routes, err := rest.Routes(endpoints)
	if err != nil {
		t.Fatal(err)
	}
	return routes
}

func echo(t testing.TB, method protoreflect.MethodDescriptor) *rest.Endpoint {
	input, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	output, err := protoregistry.GlobalTypes.FindMessageByName(method.Output().FullName())
	if err != nil {
		t.Fatal(err)
	}
	e := &rest.Endpoint{Method: method, Request: func() proto.Message { return input.New().Interface() }}
	if method.IsStreamingServer() {
		e.Stream = func(_ context.Context, _ proto.Message, send func(proto.Message) error) error {
			return send(output.New().Interface())
		}
	} else {
		e.Call = func(context.Context, proto.Message) (proto.Message, error) { return output.New().Interface(), nil }
	}
	return e
}

// Every request to any route gets a response or an error.
func FuzzTranscoder(f *testing.F) {
	routes := echoes(f)
	for i, route := range routes {
		path := strings.NewReplacer("{", "", "}", "").Replace(route.Path)
		f.Add(route.Verb, path, "page_size=10&state=ready&from=2030-01-01T00:00:00Z", []byte(`{}`), i%2 == 0)
		f.Add(route.Verb, path, "", []byte(`{"jobs":[{"kind":"noop","args":{"a":[1,"x",null]},"timeout":"20s","not_before":"2030-01-01T00:00:00.123456Z"}]}`), false)
		f.Add(route.Verb, path, "nonsense", []byte("\x1f\x8b\x08\x00"), true)
	}
	admit := func(context.Context, *rest.Endpoint) error { return nil }
	handler := (&rest.Server{Routes: routes, Log: slog.New(slog.DiscardHandler), Admit: admit}).Handler()
	f.Fuzz(func(t *testing.T, verb, path, query string, body []byte, packed bool) {
		request, err := http.NewRequestWithContext(t.Context(), verb, "http://127.0.0.1/", bytes.NewReader(body))
		if err != nil {
			return
		}
		request.URL.Path, request.URL.RawQuery = path, query
		if packed {
			request.Header.Set("Content-Encoding", "gzip")
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code >= http.StatusInternalServerError {
			t.Errorf("%s %s?%s of %q: %d %s", verb, path, query, body, answer.Code, answer.Body)
		}
	})
}
