package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// declaring returns a join request with kinds, each with confidential fields.
func declaring(name string, kinds, fields int) *fairleadv1.JoinWorkerRequest {
	join := &fairleadv1.JoinWorkerRequest{}
	for k := range kinds {
		kind := &fairleadv1.KindDefaults{Kind: fmt.Sprintf("%s-%d", name, k)}
		for f := range fields {
			kind.Confidential = append(kind.Confidential, fmt.Sprintf("args.f%d", f))
		}
		join.Kinds, join.Defaults = append(join.Kinds, kind.GetKind()), append(join.Defaults, kind)
	}
	return join
}

// wantFieldByREST does the same as wantField, for a join over REST.
func (a *guardedAPI) wantFieldByREST(join *fairleadv1.JoinWorkerRequest, field string, as []string) {
	a.Helper()
	raw, err := wire.Marshal(join)
	if err != nil {
		a.Fatal(err)
	}
	answer, _ := a.send(400, "POST", "/api/v1/workers", string(raw), as...)
	if got := listOf(answer, "errors"); len(got) == 0 || got[0]["field"] != field {
		a.Errorf("got %v, want %s refused", answer, field)
	}
}

func TestAJoinThatDeclaresTooMuchIsRefused(t *testing.T) {
	a := newGuardedAPI(t)
	secret := a.token(access.RoleWorker, "")
	long := &fairleadv1.JoinWorkerRequest{}
	for k := range 1000 {
		long.Kinds = append(long.Kinds, fmt.Sprintf("%04d%s", k, strings.Repeat("x", 150)))
	}
	path := declaring("path", 1, 0)
	path.Defaults[0].Confidential = []string{"args." + strings.Repeat("x", 200)}
	for _, c := range []struct {
		what, field string
		join        *fairleadv1.JoinWorkerRequest
	}{
		{"many kinds", "kinds", declaring("many", 1001, 0)},
		{"long kinds", "kinds", long},
		{"many fields of a kind", "defaults[0].confidential", declaring("kind", 1, 101)},
		{"a long field", "confidential", path},
		{"many fields", "defaults", declaring("fields", 501, 2)},
	} {
		t.Run(c.what, func(t *testing.T) {
			a.wantFieldByREST(c.join, c.field, a.as(secret))
			for protocol, options := range protocolsOfWorkers {
				_, err := a.workersAs(secret, options).JoinWorker(t.Context(), proto.CloneOf(c.join))
				if field := strings.TrimPrefix(c.field, "defaults[0]."); connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), field) {
					t.Errorf("%s: got %v, want %s refused", protocol, err, field)
				}
			}
		})
	}
	fields, err := a.store.Confidential(t.Context())
	if err != nil || len(fields) != 0 {
		t.Errorf("joins that were refused have declared %d kinds (%v)", len(fields), err)
	}
}

// The number of fields by which all responses are masked is limited, however many workers
// join with more confidential fields. Known fields can always be declared again.
func TestJoinsAddConfidentialFieldsUpToABound(t *testing.T) {
	a := newGuardedAPI(t)
	workers := a.workersAs(a.token(access.RoleWorker, ""), nil)
	var refused error
	for n := range 80 {
		if _, err := workers.JoinWorker(t.Context(), declaring(fmt.Sprint("w", n), 1000, 1)); err != nil {
			refused = err
		}
	}
	wantField(t, refused, "defaults")
	fields, err := a.store.Confidential(t.Context())
	if err != nil || len(fields) != 10_000 {
		t.Errorf("%d kinds have confidential fields (%v), want 10000", len(fields), err)
	}
	if _, err := workers.JoinWorker(t.Context(), declaring("w0", 1000, 1)); err != nil {
		t.Errorf("a worker that joins again: %v", err)
	}
	// Only an admin can remove the defaults of kinds that no longer exist.
	_, err = workers.JoinWorker(t.Context(), declaring("new", 1, 1))
	wantField(t, err, "defaults")
	a.send(403, "PUT", "/api/v1/kinds/w0-0", `{"confidential":[]}`, a.as(a.token(access.RoleOperator, ""))...)
	a.send(200, "PUT", "/api/v1/kinds/w0-0", `{"confidential":[]}`, a.as(a.token(access.RoleAdmin, ""))...)
	if _, err := workers.JoinWorker(t.Context(), declaring("new", 1, 1)); err != nil {
		t.Errorf("a join after fields were removed: %v", err)
	}
}

func TestATokenHasABoundedNumberOfLiveWorkers(t *testing.T) {
	a := newGuardedAPI(t)
	secret, _ := a.addToken(access.Token{Name: "fleet", Role: access.RoleWorker})
	node := fairlead.Node{Name: "w", Kinds: []string{"noop"}, Slots: 1, Remote: true, Owner: "fleet"}
	last := fairlead.NodeID(0)
	for range 1000 {
		id, err := a.store.Join(t.Context(), node, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		last = id
	}
	join := &fairleadv1.JoinWorkerRequest{Kinds: []string{"noop"}}
	a.send(429, "POST", "/api/v1/workers", `{"kinds":["noop"]}`, a.as(secret)...)
	for protocol, options := range protocolsOfWorkers {
		if _, err := a.workersAs(secret, options).JoinWorker(t.Context(), join); connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	a.liveWorker(a.token(access.RoleWorker, ""), "noop") // of another token
	if err := a.store.Leave(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	a.liveWorker(secret, "noop")
}
