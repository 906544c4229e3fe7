package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// changesNothing are methods of a verb other than GET that a read-only database can
// answer.
var changesNothing = []protoreflect.Name{"PreviewTiming", "WhatIf", "Verify", "LeaseJobs", "ListRetries", "ListShardItems", "LoadShard"}

// A database that cannot write now makes every change 503, with the time after which
// it is worth trying again, and UNAVAILABLE in gRPC; and nothing is an error of the
// service.
func TestAReadOnlyDatabaseIsUnavailable(t *testing.T) {
	database := openInMemory(t)
	a := newGuardedAPIOver(t, server.Auth{}, database)
	readOnly := func(is bool) {
		if _, err := database.DB().ExecContext(t.Context(), fmt.Sprint("pragma query_only = ", is)); err != nil {
			t.Fatal(err)
		}
	}
	for _, method := range methods() {
		row := everyMethod[method.Name()]
		secret := a.token(access.RoleAdmin, "")
		if row.role == access.RoleWorker {
			secret = a.token(access.RoleWorker, "")
		}
		for protocol, send := range map[string]answerer{"REST": a.restAnswer, "gRPC": a.grpcAnswer} {
			if protocol == "REST" && ruleOf(method) == nil {
				continue
			}
			text := a.fill(strings.ReplaceAll(row.request, "GONE", a.liveWorker(a.token(access.RoleWorker, ""), "noop")))
			readOnly(true)
			got := send(t, method, requestOf(t, method, text), secret)
			readOnly(false)
			healthy := send(t, method, requestOf(t, method, text), secret)
			name := fmt.Sprintf("%s of %s", protocol, method.Name())
			switch {
			case strings.Contains(got.text, "readonly"):
				t.Errorf("%s tells what the database said: %s", name, got.text)
			case got.unavailable && protocol == "REST" && got.header.Get("Retry-After") == "":
				t.Errorf("%s does not say when to try again", name)
			case got.unavailable:
			case got.internal, healthy.internal:
				t.Errorf("%s: %v, and %v with a database that writes", name, got, healthy)
			case healthy.ok && changes(method) && !slices.Contains(changesNothing, method.Name()):
				t.Errorf("%s: %v, though it succeeds with a database that writes", name, got)
			}
		}
	}
}

// openInMemory opens a store whose writes and reads have one connection.
func openInMemory(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// changes reports whether a method is not one that reads.
func changes(method protoreflect.MethodDescriptor) bool {
	return !method.IsStreamingServer() && (ruleOf(method) == nil || ruleOf(method).GetGet() == "")
}

// reply is what a method answered, whatever the protocol.
type reply struct {
	ok, refused, unavailable, internal bool
	status, text                       string
	header                             http.Header
}

func (r reply) String() string { return r.status + " " + r.text }

// answerer sends a request by one protocol.
type answerer func(t *testing.T, method protoreflect.MethodDescriptor, message proto.Message, secret string) reply

// restAnswer sends a request as the schema's annotation says.
func (a *guardedAPI) restAnswer(t *testing.T, method protoreflect.MethodDescriptor, message proto.Message, secret string) reply {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // a stream is left as soon as it has begun
	return a.answerOf(t, a.messageRequest(ctx, t, method, message), secret)
}

// answerOf sends a request of REST.
func (a *guardedAPI) answerOf(t *testing.T, request *http.Request, secret string) reply {
	t.Helper()
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	r := reply{status: response.Status, header: response.Header, ok: response.StatusCode < 300}
	r.refused = response.StatusCode >= 400 && response.StatusCode < 500
	r.unavailable = response.StatusCode == http.StatusServiceUnavailable
	r.internal = response.StatusCode >= 500 && !r.unavailable && response.StatusCode != http.StatusBadGateway
	if !r.ok {
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		r.text = string(raw)
	}
	return r
}

// grpcAnswer sends a request as gRPC frames it.
func (a *guardedAPI) grpcAnswer(t *testing.T, method protoreflect.MethodDescriptor, message proto.Message, secret string) reply {
	t.Helper()
	raw, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(raw))), raw...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+path, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/grpc", "Te": "trailers", "Authorization": "Bearer " + secret} {
		request.Header.Set(name, value)
	}
	response, err := a.http2.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	status := response.Header.Get("Grpc-Status")
	if status == "" {
		if first, err := io.ReadAll(io.LimitReader(response.Body, 1)); err == nil && len(first) == 1 {
			return reply{ok: true, status: "an answer"}
		}
		status = response.Trailer.Get("Grpc-Status")
	}
	r := reply{status: "status " + status, text: response.Header.Get("Grpc-Message") + response.Trailer.Get("Grpc-Message"), header: response.Header}
	switch status {
	case "0":
		r.ok = true
	case "14":
		r.unavailable = true
	case "2", "4", "13", "15":
		r.internal = true
	default:
		r.refused = true
	}
	return r
}

// Who only reads is not kept out because the use of a token cannot be recorded.
func TestTokensAreKnownThoughTheDatabaseIsReadOnly(t *testing.T) {
	database := sqlitetest.Open(t) // whose readers have connections of their own
	a := newGuardedAPIOver(t, server.Auth{}, database)
	secret := a.token(access.RoleViewer, "")
	if _, err := database.DB().ExecContext(t.Context(), "pragma query_only = true"); err != nil {
		t.Fatal(err)
	}
	a.send(200, "GET", "/api/v1/jobs", "", "Authorization", "Bearer "+secret)
}
