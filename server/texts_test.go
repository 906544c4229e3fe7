package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/internal/wire"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/server"
)

// cleaned lists the strings written by handlers and their observers. Characters that
// databases cannot store are replaced in them, because nothing else may be lost.
var cleaned = []protoreflect.FullName{
	"fairlead.v1.RunEnd.error", "fairlead.v1.FailJobRequest.error", "fairlead.v1.FailedNote.error",
	"fairlead.v1.LineNote.text", "fairlead.v1.AddSweepLogsRequest.text", "fairlead.v1.SweepLog.text", "fairlead.v1.NoteItemsRequest.stop",
}

const withNUL = "a\x00b"

// Strings that some database cannot store are rejected by name in every field of every
// request, or cleaned. A lookup may also find nothing. None of them makes the service fail,
// with any store.
func TestTextsThatCannotBeKeptAreRefused(t *testing.T) {
	for name, open := range map[string]func(store server.Store) server.Store{
		"SQLite": func(store server.Store) server.Store { return store },
		"PostgreSQL": func(store server.Store) server.Store {
			return instead(t, store)(postgres.Open(t.Context(), testdb.Postgres(t)))
		},
		"MySQL": func(store server.Store) server.Store {
			return instead(t, store)(mysql.Open(t.Context(), testdb.MySQL(t)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "SQLite" {
				tier.Long(t, "the same requests on every database")
			}
			a := newGuardedAPIOn(t, open)
			for _, method := range methods() {
				for _, path := range textPaths(method.Input(), nil) {
					a.tryText(t, method, path)
				}
			}
		})
	}
}

// instead returns a function that returns a store to be used in place of another one, which
// it closes.
func instead(t *testing.T, other server.Store) func(server.Store, error) server.Store {
	return func(store server.Store, err error) server.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		return store
	}
}

// tryText sends a request with a text in one of its fields that cannot be kept.
func (a *guardedAPI) tryText(t *testing.T, method protoreflect.MethodDescriptor, path []protoreflect.FieldDescriptor) {
	t.Helper()
	row, last := everyMethod[method.Name()], path[len(path)-1]
	secret := a.token(access.RoleAdmin, "")
	if row.role == access.RoleWorker {
		secret = a.token(access.RoleWorker, "")
	}
	senders := map[string]answerer{"gRPC": a.grpcAnswer}
	if isDocument(last) && last.FullName() != "batch_scheduler.TriggerEventRequest.req_data" { // which nothing reads
		senders["gRPC without JSON"] = a.grpcWithoutJSON
	}
	if ruleOf(method) != nil {
		senders["REST"], senders["REST without UTF-8"] = a.restAnswer, a.restWithoutUTF8
	}
	for protocol, send := range senders {
		text := row.request
		if asksFor(text, "GONE") {
			text = fillIn(text, "GONE", a.liveWorker(a.token(access.RoleWorker, ""), "noop"))
		}
		message := requestOf(t, method, a.fill(text))
		put(message.ProtoReflect(), path)
		got := send(t, method, message, secret)
		keeps := slices.Contains(cleaned, last.FullName()) || isDocument(last) && (protocol == "REST" || protocol == "gRPC")
		if fine := got.refused || keeps && got.ok; !fine {
			t.Errorf("%s of %s with %s: %v", protocol, method.Name(), last.FullName(), got)
		}
	}
}

// isDocument reports whether a field is JSON, which is kept byte for byte: \u0000 in it
// is no NUL but six characters.
func isDocument(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.BytesKind
}

// textPaths returns the paths to all strings in a message.
func textPaths(message protoreflect.MessageDescriptor, above []protoreflect.FieldDescriptor) (paths [][]protoreflect.FieldDescriptor) {
	const deepest = 5
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		path := append(slices.Clone(above), field)
		switch {
		case field.Kind() == protoreflect.StringKind, field.Kind() == protoreflect.BytesKind, field.IsMap():
			paths = append(paths, path)
		case field.Message() != nil && len(path) < deepest && !strings.HasPrefix(string(field.Message().FullName()), "google.protobuf."):
			paths = append(paths, textPaths(field.Message(), path)...)
		}
	}
	return paths
}

// put sets the text at the end of a path. Lists along it have one more element.
func put(message protoreflect.Message, path []protoreflect.FieldDescriptor) {
	field := path[0]
	value := protoreflect.ValueOfString(withNUL)
	if field.Kind() == protoreflect.BytesKind {
		value = protoreflect.ValueOfBytes([]byte(`{"a":"b\u0000c"}`))
	}
	switch {
	case field.IsMap():
		message.Mutable(field).Map().Set(protoreflect.ValueOfString(withNUL).MapKey(), protoreflect.ValueOfString(withNUL))
	case field.IsList() && len(path) > 1:
		list := message.Mutable(field).List()
		if list.Len() == 0 {
			list.AppendMutable()
		}
		put(list.Get(0).Message(), path[1:])
	case field.IsList():
		message.Mutable(field).List().Append(value)
	case len(path) > 1:
		put(message.Mutable(field).Message(), path[1:])
	default:
		message.Set(field, value)
	}
}

// grpcWithoutJSON sends a request with bytes that are neither JSON nor UTF-8.
func (a *guardedAPI) grpcWithoutJSON(t *testing.T, method protoreflect.MethodDescriptor, message proto.Message, secret string) reply {
	t.Helper()
	raw, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte(`b\u0000c`), []byte("b\x00\xff    c")) // of the same length
	broken := message.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(raw, broken); err != nil {
		t.Fatal(err)
	}
	return a.grpcAnswer(t, method, broken, secret)
}

// restWithoutUTF8 sends a request with a byte that is not UTF-8 in the place of NUL.
func (a *guardedAPI) restWithoutUTF8(t *testing.T, method protoreflect.MethodDescriptor, message proto.Message, secret string) reply {
	t.Helper()
	request := a.messageRequest(t.Context(), t, method, message)
	request.URL.RawPath = strings.ReplaceAll(request.URL.EscapedPath(), "%00", "%FF")
	request.URL.Path = strings.ReplaceAll(request.URL.Path, "\x00", "\xff")
	request.URL.RawQuery = strings.ReplaceAll(request.URL.RawQuery, "%00", "%FF")
	body, err := io.ReadAll(request.Body)
	if err != nil {
		t.Fatal(err)
	}
	body = bytes.ReplaceAll(body, []byte(`\u0000`), []byte("\xff"))
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return a.answerOf(t, request, secret)
}

// messageRequest returns the request for a message: the fields of the path and the query,
// and the others as JSON.
func (a *guardedAPI) messageRequest(ctx context.Context, t *testing.T, method protoreflect.MethodDescriptor, message proto.Message) *http.Request {
	t.Helper()
	raw, err := wire.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	rule := ruleOf(method)
	verb, path := verbAndPath(rule)
	address, body := a.url+withParams(path, fields), io.Reader(http.NoBody)
	if rule.GetBody() == "*" {
		for name := range fields {
			if strings.Contains(path, "{"+name+"}") {
				delete(fields, name)
			}
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	} else if query := queryOf(path, fields); query != "" {
		address += "?" + query
	}
	request, err := http.NewRequestWithContext(ctx, verb, address, body)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// queryOf returns the query for fields that are not in the path.
func queryOf(path string, fields map[string]any) string {
	query := url.Values{}
	for name, value := range fields {
		if strings.Contains(path, "{"+name+"}") {
			continue
		}
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				query.Add(name, fmt.Sprint(one))
			}
		default:
			query.Set(name, fmt.Sprint(value))
		}
	}
	return query.Encode()
}
