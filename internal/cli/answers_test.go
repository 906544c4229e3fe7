package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// answers are what a server says of what cannot be brought about in a test, such
// as limits that have lost count.
type answers struct {
	fairleadv1connect.UnimplementedLimitServiceHandler
	fairleadv1connect.UnimplementedTokenServiceHandler
	fairleadv1connect.UnimplementedAuditServiceHandler
	fairleadv1connect.UnimplementedJobServiceHandler
	watched chan struct{} // one for each time that a job is watched
}

// Verify has found something.
func (answers) Verify(context.Context, *fairleadv1.VerifyRequest) (*fairleadv1.VerifyResponse, error) {
	return &fairleadv1.VerifyResponse{Items: []*fairleadv1.Drift{{Scope: "global", Counted: 3, Found: 2}}}, nil
}

// CreateToken makes one.
func (answers) CreateToken(_ context.Context, in *fairleadv1.CreateTokenRequest) (*fairleadv1.CreateTokenResponse, error) {
	return &fairleadv1.CreateTokenResponse{Secret: "fl_shown", Token: &fairleadv1.Token{Id: 7, Name: in.GetName(), Role: in.GetRole(), ExpiresAt: in.GetExpiresAt()}}, nil
}

// ListTokens lists two.
func (answers) ListTokens(context.Context, *fairleadv1.ListTokensRequest) (*fairleadv1.ListTokensResponse, error) {
	at := timestamppb.New(time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC))
	return &fairleadv1.ListTokensResponse{Items: []*fairleadv1.Token{
		{Id: 1, Name: "me", Role: "admin", CreatedAt: at}, {Id: 2, Name: "shop", Role: "submitter", Tenants: []string{"a", "b"}, ExpiresAt: at, Expired: true},
	}}, nil
}

// DeleteToken knows one.
func (answers) DeleteToken(_ context.Context, in *fairleadv1.DeleteTokenRequest) (*fairleadv1.DeleteTokenResponse, error) {
	if in.GetId() != 2 {
		return nil, connect.NewError(connect.CodeNotFound, context.Canceled)
	}
	return &fairleadv1.DeleteTokenResponse{}, nil
}

// ListAudit repeats what it was asked for.
func (answers) ListAudit(_ context.Context, in *fairleadv1.ListAuditRequest) (*fairleadv1.ListAuditResponse, error) {
	return &fairleadv1.ListAuditResponse{Items: []*fairleadv1.AuditEntry{{Id: 1, Actor: in.GetActor(), Action: in.GetAction(), Subject: in.GetSubject(), At: in.GetFrom(), Error: "no\x1b"}}}, nil
}

// WatchJob is cut off the first time, and asked too much the second.
func (a answers) WatchJob(_ context.Context, in *fairleadv1.GetJobRequest, stream *connect.ServerStream[fairleadv1.Job]) error {
	a.watched <- struct{}{}
	switch len(a.watched) {
	case 1:
		return stream.Send(&fairleadv1.Job{Id: in.GetId(), State: "ready"}) // and it ends, as that of a server that stops
	case 2:
		return connect.NewError(connect.CodeUnavailable, context.Canceled)
	}
	return stream.Send(&fairleadv1.Job{Id: in.GetId(), State: "succeeded"})
}

func newAnswers(t *testing.T) *rig {
	t.Helper()
	alone(t)
	a := answers{watched: make(chan struct{}, 10)}
	mux := http.NewServeMux()
	mux.Handle(fairleadv1connect.NewLimitServiceHandler(a))
	mux.Handle(fairleadv1connect.NewTokenServiceHandler(a))
	mux.Handle(fairleadv1connect.NewAuditServiceHandler(a))
	mux.Handle(fairleadv1connect.NewJobServiceHandler(a))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return &rig{T: t, url: web.URL}
}

func TestVerifyFailsIfThereWasDrift(t *testing.T) {
	r := newAnswers(t)
	stdout, stderr := r.typed(ExitFailure, "verify")
	if !strings.Contains(stdout, "global        3      2") || !strings.Contains(stderr, "corrected now") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

func TestTokensAreMadeAndShownOnce(t *testing.T) {
	r := newAnswers(t)
	if stdout, stderr := r.typed(ExitOK, "token", "create", "--name", "ci", "--role", "viewer", "--expires", "90d"); stdout != "fl_shown\n" || !strings.Contains(stderr, `token 7 "ci"`) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if made := r.document("token", "create", "--name", "ci", "--role", "viewer"); made["secret"] != "fl_shown" {
		t.Errorf("it is %v", made)
	}
	r.says([]string{"me", "(all)", "never", "a,b", "expired"}, "token", "list")
	r.says([]string{"token 2 is deleted"}, "token", "delete", "2")
	r.fails(ExitNotFound, "", "token", "delete", "9")
	r.fails(ExitUsage, "give --name and --role", "token", "create")
}

func TestTheAuditLogIsFiltered(t *testing.T) {
	r := newAnswers(t)
	r.says([]string{"me", "PauseQueue", "queue:mail", "2030-05-17T00:00:00Z"}, "audit", "list", "--actor", "me", "--action", "PauseQueue", "--subject", "queue:mail", "--from", "2030-05-17T00:00:00Z")
}

// Who waits for a job does not mind that its server is started anew.
func TestAWatchThatIsCutIsTakenUpAgain(t *testing.T) {
	r := newAnswers(t)
	r.says([]string{"job 5 is ready", "job 5 is succeeded"}, "job", "watch", "5")
}

func TestMethodsThatAServerDoesNotKnow(t *testing.T) {
	r := newAnswers(t)
	r.fails(ExitFailure, "as new as this program", "job", "list")
	r.fails(ExitFailure, "as new as this program", "queue", "list")
}
