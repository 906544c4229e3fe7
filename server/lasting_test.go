package server_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server"
)

// frame returns a message in the stream format of gRPC and Connect.
func frame(raw []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(raw))), raw...)
}

// open begins a call that lasts and returns its answer, which has not ended. A call
// that waits answers with its headers when it ends.
func (a *guardedAPI) open(ctx context.Context, verb, path, kind string, body []byte, secret string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, verb, a.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Authorization", "Bearer "+secret)
	request.Header.Set("Te", "trailers")
	return a.http2.Do(request)
}

// liveWorker joins a worker of a kind and returns its id and session, as requests have
// them.
func (a *guardedAPI) liveWorker(secret, kind string) (fields string) {
	a.Helper()
	joined, _ := a.send(200, "POST", "/api/v1/workers", fmt.Sprintf(`{"kinds":[%q],"lease":"300s"}`, kind), a.as(secret)...)
	return fmt.Sprintf(`"id":%s,"session":%q`, joined["id"], joined["session"])
}

// lastingCalls returns the methods with long calls: streams and calls that wait.
func lastingCalls() (calls []protoreflect.MethodDescriptor) {
	for _, method := range methods() {
		if method.IsStreamingServer() || method.Input().Fields().ByName("wait") != nil {
			calls = append(calls, method)
		}
	}
	return calls
}

// revoke removes a token, as another server would.
func (a *guardedAPI) revoke(id int64) {
	a.Helper()
	if err := a.store.DeleteToken(a.Context(), id); err != nil {
		a.Fatal(err)
	}
}

// A call that lasts ends once its token is revoked, by whatever protocol it came.
func TestCallsThatLastEndWithTheirToken(t *testing.T) {
	a := newGuardedAPIFor(t, server.Auth{Recheck: 20 * time.Millisecond}, func(store server.Store) server.Store { return store })
	for _, method := range lastingCalls() {
		role := everyMethod[method.Name()].role
		for _, protocol := range []string{"REST", "gRPC", "gRPC-Web", "Connect"} {
			rule := ruleOf(method)
			if protocol == "REST" && rule == nil {
				continue
			}
			t.Run(protocol+" "+string(method.Name()), func(t *testing.T) {
				a.made++
				secret, id := a.addToken(access.Token{Name: fmt.Sprint("short-lived ", a.made), Role: role})
				text := everyMethod[method.Name()].request
				if strings.Contains(text, "GONE") {
					fields := a.liveWorker(secret, "rare")
					text = strings.ReplaceAll(text, "GONE", fields)
				}
				if method.Input().Fields().ByName("wait") != nil {
					text = strings.Replace(text, "{", `{"wait":"60s",`, 1)
				}
				text = a.fill(text)
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if end := a.lastingEnd(ctx, method, protocol, text, secret, func() { a.revoke(id) }); !strings.Contains(end, "ask an admin for a new one") {
					t.Errorf("it ended with %q", end)
				}
			})
		}
	}
}

// lastingEnd makes a call that lasts, revokes its token once it is under way, and
// returns all that came.
func (a *guardedAPI) lastingEnd(ctx context.Context, method protoreflect.MethodDescriptor, protocol, text, secret string, revoke func()) string {
	path, verb := fmt.Sprintf("/%s/%s", method.Parent().FullName(), method.Name()), http.MethodPost
	body, kind := []byte(text), "application/grpc"
	switch protocol {
	case "REST":
		verb, path, body = a.restRequest(method, text)
		kind = "application/json"
	case "Connect":
		if kind = "application/json"; method.IsStreamingServer() {
			kind, body = "application/connect+json", frame(body)
		}
	default:
		raw, err := proto.Marshal(requestOf(a.TB, method, text))
		if err != nil {
			return err.Error()
		}
		body = frame(raw)
		if protocol == "gRPC-Web" {
			kind = "application/grpc-web"
		}
	}
	// A call that sends nothing before its end is begun with a token that is gone, but
	// remembered for a moment.
	silent := !method.IsStreamingServer() || protocol == "REST" && method.Name() == "StreamJobs"
	if silent {
		revoke()
	}
	response, err := a.open(ctx, verb, path, kind, body, secret)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if !silent {
		revoke()
	}
	all, err := io.ReadAll(response.Body)
	return fmt.Sprint(response.Status, string(all), response.Header.Get("Grpc-Message"), response.Trailer.Get("Grpc-Message"), err)
}

// A database that does not answer is no reason to end a stream.
func TestAnOutageEndsNoStream(t *testing.T) {
	var failing atomic.Bool
	var asked atomic.Int64
	a := newGuardedAPIFor(t, server.Auth{Recheck: 10 * time.Millisecond}, func(store server.Store) server.Store {
		return unlisted{store, &failing, &asked}
	})
	secret := a.token(access.RoleViewer, "")
	job := a.fill("JOB")
	response, err := a.open(t.Context(), http.MethodGet, "/api/v1/jobs/"+job+"/watch", "", nil, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	failing.Store(true)
	a.eventually("its token was looked up in vain", func() bool { return asked.Load() >= 3 })
	a.send(200, "POST", "/api/v1/jobs/"+job+"/cancel", "{}", a.as(a.token(access.RoleSubmitter, ""))...)
	all, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(all), `"state":"cancelled"`) || strings.Contains(string(all), "event: error") {
		t.Errorf("the stream ended as %s (%v)", all, err)
	}
}

// unlisted is a store that cannot list tokens for a while.
type unlisted struct {
	server.Store
	failing *atomic.Bool
	asked   *atomic.Int64
}

func (s unlisted) Tokens(ctx context.Context) ([]access.Token, error) {
	if s.failing.Load() {
		s.asked.Add(1)
		return nil, errGone
	}
	return s.Store.Tokens(ctx)
}

// The token of an identity provider counts until it expires, and not longer.
func TestStreamsEndWhenTheTokenOfAnIdentityProviderExpires(t *testing.T) {
	var until atomic.Int64
	until.Store(time.Now().Add(time.Second).UnixNano())
	verify := func(context.Context, string) (server.Identity, error) {
		return server.Identity{Name: "oidc:jo", Role: access.RoleViewer, Until: time.Unix(0, until.Load())}, nil
	}
	a := newGuardedAPIFor(t, server.Auth{Verify: verify, Recheck: 10 * time.Millisecond}, func(store server.Store) server.Store { return store })
	response, err := a.open(t.Context(), http.MethodGet, "/api/v1/events", "", nil, "signed.by.them")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(all), "event: error\ndata: {") || !strings.Contains(string(all), `"status":401`) {
		t.Errorf("the stream ended as %s (%v)", all, err)
	}
	a.send(401, "GET", "/api/v1/jobs", "", a.as("signed.by.them")...)
}

// changed is a store in which a token can stand for something else.
type changed struct {
	server.Store
	to *atomic.Pointer[access.Token]
}

func (s changed) Tokens(ctx context.Context) ([]access.Token, error) {
	tokens, err := s.Store.Tokens(ctx)
	if other := s.to.Load(); other != nil {
		for i := range tokens {
			tokens[i].Role, tokens[i].Tenants, tokens[i].Expired = other.Role, other.Tenants, other.Expired
		}
	}
	return tokens, err
}

func TestStreamsEndWhenTheirTokenStandsForSomethingElse(t *testing.T) {
	for what, other := range map[string]access.Token{
		"another role":  {Role: access.RoleViewer, Tenants: []string{"acme"}},
		"other tenants": {Role: access.RoleOperator, Tenants: []string{"zeta"}},
		"all tenants":   {Role: access.RoleOperator},
		"nothing":       {Role: access.RoleOperator, Tenants: []string{"acme"}, Expired: true},
	} {
		t.Run(what, func(t *testing.T) {
			var to atomic.Pointer[access.Token]
			a := newGuardedAPIFor(t, server.Auth{Recheck: 10 * time.Millisecond}, func(store server.Store) server.Store { return changed{store, &to} })
			response, err := a.open(t.Context(), http.MethodGet, "/api/v1/events", "", nil, a.token(access.RoleOperator, "acme"))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			to.Store(&other)
			all, err := io.ReadAll(response.Body)
			if err != nil || !strings.Contains(string(all), `"status":401`) {
				t.Errorf("the stream ended as %s (%v)", all, err)
			}
		})
	}
}
