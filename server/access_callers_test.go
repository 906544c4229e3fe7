package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// expected returns the outcome of a method for a caller in a role, bound to tenants or not.
func expected(c caller, needed access.Role, what touch) string {
	switch {
	case c.role == "":
		return nobody
	case needed != "" && !c.role.May(needed):
		return forbidden
	case len(c.tenants) == 0 || what == many || what == nothing:
		return through
	case what == cluster:
		return forbidden
	case c.tenants[0] == "acme":
		return through
	case what == aJob || what == aTenant:
		return hidden
	default:
		return forbidden
	}
}

// caller is one kind of caller. Without a role it is refused.
type caller struct {
	name, secret string
	role         access.Role
	tenants      []string // acme first, if it is there
}

// signedByProvider verifies the tokens of an identity provider.
func signedByProvider(_ context.Context, token string) (server.Identity, error) {
	switch token {
	case "oidc.not.bound":
		return server.Identity{Name: "oidc:jo", Role: access.RoleOperator}, nil
	case "oidc.bound.acme":
		return server.Identity{Name: "oidc:jo", Role: access.RoleViewer, Tenants: []string{"acme"}}, nil
	case "oidc.no.tenants":
		return server.Identity{Name: "oidc:jo", Role: access.RoleOperator, Tenants: []string{}}, nil
	}
	return server.Identity{}, errors.New("it is not signed")
}

// everyCaller lists callers of every kind.
func (a *guardedAPI) everyCaller() []caller {
	a.Helper()
	expired, _ := a.addToken(access.Token{Name: "expired", Role: access.RoleAdmin, ExpiresAt: time.Now().Add(-time.Hour)})
	revoked, id := a.addToken(access.Token{Name: "revoked", Role: access.RoleAdmin})
	if err := a.store.DeleteToken(a.Context(), id); err != nil {
		a.Fatal(err)
	}
	callers := []caller{
		{name: "without a token"},
		{name: "with garbage", secret: "fl_garbage"},
		{name: "with a forged signature", secret: "a.forged.one"},
		{name: "with an expired token", secret: expired},
		{name: "with a revoked token", secret: revoked},
		{name: "signed for no tenants", secret: "oidc.no.tenants"},
		{name: "signed", secret: "oidc.not.bound", role: access.RoleOperator},
		{name: "signed for acme", secret: "oidc.bound.acme", role: access.RoleViewer, tenants: []string{"acme"}},
	}
	for _, role := range []access.Role{access.RoleAdmin, access.RoleWorker, access.RoleViewer, access.RoleSubmitter, access.RoleOperator} {
		for _, tenants := range [][]string{nil, {"acme"}, {"zeta"}, {"acme", "zeta"}} {
			if tenants != nil && role == access.RoleAdmin {
				continue // it cannot be bound
			}
			name := fmt.Sprintf("%s of %v", role, tenants)
			secret, _ := a.addToken(access.Token{Name: name, Role: role, Tenants: tenants})
			callers = append(callers, caller{name, secret, role, tenants})
		}
	}
	return callers
}

// sender sends a request of a method and returns what its caller gets to hear.
type sender func(t *testing.T, method protoreflect.MethodDescriptor, text, secret string) string

// protocols returns the ways to call a method: every REST route and every protocol, by
// name.
func (a *guardedAPI) protocols(method protoreflect.MethodDescriptor) map[string]sender {
	all := map[string]sender{"gRPC": a.grpc, "gRPC-Web": a.grpcWeb, "Connect": a.connect}
	if rule := ruleOf(method); rule != nil {
		for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
			verb, path := verbAndPath(binding)
			all[verb+" "+path] = a.restBy(binding)
		}
	}
	return all
}

// suite counts the attempts. A smaller number than before means a gap in the suite.
type suite struct {
	routes               map[string]bool
	routeCalls, rpcCalls int
}

func (s *suite) count(protocol string) {
	if strings.Contains(protocol, " /") {
		s.routes[protocol] = true
		s.routeCalls++
		return
	}
	s.rpcCalls++
}

func TestEveryMethodKnowsItsCallers(t *testing.T) {
	a := newGuardedAPIFor(t, server.Auth{Verify: signedByProvider}, func(store server.Store) server.Store { return store })
	callers := a.everyCaller()
	step := tier.Size(t, 6, 1, "every caller on every protocol")
	routeStep := min(step, 2)
	tried := suite{routes: map[string]bool{}}
	var refused sync.WaitGroup
	atOnce := make(chan struct{}, 100) // look-ups of unknown tokens wait for each other
	for _, method := range methods() {
		row, listed := everyMethod[method.Name()]
		if !listed {
			t.Errorf("%s is not in the table of who may call what", method.FullName())
			continue
		}
		untouched := a.fill(row.request) // of those that are refused
		for protocol, send := range a.protocols(method) {
			for i, c := range callers {
				every := step
				if strings.Contains(protocol, " /") {
					every = routeStep
				}
				if i%every != len(method.Name())%every {
					continue
				}
				tried.count(protocol)
				want := expected(c, row.role, row.touch)
				check := func(text string) {
					if got := send(t, method, text, c.secret); got != want {
						t.Errorf("%s of %s by a caller %s: %s, want %s", protocol, method.Name(), c.name, got, want)
					}
				}
				switch want {
				case through:
					check(a.fill(a.fillGone(row.request, c.secret)))
				case nobody:
					atOnce <- struct{}{}
					refused.Go(func() {
						defer func() { <-atOnce }()
						check(untouched)
					})
				default:
					check(untouched)
				}
			}
		}
	}
	refused.Wait()
	if len(tried.routes)+len(everyOtherRoute) < 117 || len(callers) < 13 || tried.rpcCalls < 2180/step {
		t.Errorf("only %d routes, %d calls of them and %d of methods, of %d callers, were tried", len(tried.routes), tried.routeCalls, tried.rpcCalls, len(callers))
	}
}

// everyOtherRoute lists the routes that are not methods of the schema, with the outcome for
// each caller.
var everyOtherRoute = map[string]func(caller) string{
	"GET /livez":        open,
	"GET /readyz":       open,
	"GET /version":      open,
	"GET /docs":         open,
	"GET /openapi.json": open,
	"GET /metrics":      func(c caller) string { return expected(c, access.RoleViewer, cluster) },
	// It is CreateBatch in another form.
	"POST /api/v1/batches/upload?name=n&type=paint&tenant=acme": func(c caller) string { return expected(c, access.RoleSubmitter, jobsOf) },
	// Only the token of one run of a job counts there.
	"POST /api/v1/callbacks/1": func(caller) string { return nobody },
	"PUT /api/v1/callbacks/1":  func(caller) string { return nobody },
	"GET /api/v1/nothing":      func(caller) string { return hidden },
	"GET /debug/pprof/":        func(caller) string { return hidden },
}

func open(caller) string { return through }

// What the description of the service names is tried with every caller.
func TestEveryDescribedRouteIsTried(t *testing.T) {
	a := newGuardedAPI(t)
	tried := map[string]bool{}
	for _, method := range methods() {
		for protocol := range a.protocols(method) {
			tried[protocol] = true
		}
	}
	for route := range everyOtherRoute {
		path, _, _ := strings.Cut(route, "?")
		tried[strings.Replace(path, "/callbacks/1", "/callbacks/{job}", 1)] = true
	}
	document, _ := a.send(200, "GET", "/openapi.json", "")
	for path, verbs := range document["paths"].(map[string]any) {
		for verb := range verbs.(map[string]any) {
			if route := strings.ToUpper(verb) + " " + path; verb != "parameters" && !tried[route] {
				t.Errorf("%s is not in the table of who may call what", route)
			}
		}
	}
}

func TestEveryOtherRouteKnowsItsCallers(t *testing.T) {
	a := newGuardedAPIFor(t, server.Auth{Verify: signedByProvider}, func(store server.Store) server.Store { return store })
	for _, c := range a.everyCaller() {
		for route, wants := range everyOtherRoute {
			verb, path, _ := strings.Cut(route, " ")
			body, kind := "", ""
			if verb == http.MethodPost {
				body, kind = "{\"target\":{\"id\":\"1\",\"type\":\"wall\"}}\n", "application/x-ndjson"
			}
			if got, want := a.heard(t, verb, path, kind, []byte(body), c.secret), wants(c); got != want {
				t.Errorf("%s by a caller %s: %s, want %s", route, c.name, got, want)
			}
		}
	}
}
