package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// protocolsOfWorkers are the ways in which a worker calls the service by its methods' names.
var protocolsOfWorkers = map[string][]connect.ClientOption{
	"gRPC": {connect.WithGRPC()}, "gRPC-Web": {connect.WithGRPCWeb()}, "Connect": {}, "Connect, as JSON": {connect.WithProtoJSON()},
}

// workersAs calls the service of workers with a token.
func (a *guardedAPI) workersAs(secret string, options []connect.ClientOption) fairleadv1connect.WorkerServiceClient {
	authorize := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			request.Header().Set("Authorization", "Bearer "+secret)
			return next(ctx, request)
		}
	})
	return fairleadv1connect.NewWorkerServiceClient(a.http2, a.url, append(options, connect.WithInterceptors(authorize))...)
}

// boundWorker creates a token that is bound to a kind, a queue and a tenant.
func (a *guardedAPI) boundWorker() (secret string) {
	a.Helper()
	secret, _ = a.addToken(access.Token{Name: "bound", Role: access.RoleWorker, Kinds: []string{"mail"}, Queues: []string{"slow"}, Tenants: []string{"acme"}})
	return secret
}

// enqueueAround stores one job that a boundWorker may run, between many that it may not.
func (a *guardedAPI) enqueueAround() (mine *fairlead.Job) {
	a.Helper()
	mine = a.add(fairlead.Job{Kind: "mail", Queue: "slow", Tenant: "acme"})
	for range 20 {
		a.add(fairlead.Job{Kind: "mail", Queue: "slow", Tenant: "zeta", Priority: 9})
		a.add(fairlead.Job{Kind: "mail", Queue: "fast", Tenant: "acme", Priority: 9})
		a.add(fairlead.Job{Kind: "http", Queue: "slow", Tenant: "acme", Priority: 9, Args: []byte(`{"url":"http://svc.internal/","headers":{"Authorization":"Bearer secret"}}`)})
	}
	return mine
}

func TestABoundWorkerIsRefusedWhatItsTokenIsNotForByREST(t *testing.T) {
	a := newGuardedAPI(t)
	as := a.as(a.boundWorker())
	for field, body := range map[string]string{
		"kinds[1]":  `{"kinds":["mail","http"]}`,
		"queues[0]": `{"kinds":["mail"],"queues":["default","slow"]}`,
	} {
		answer, _ := a.send(400, "POST", "/api/v1/workers", body, as...)
		if got := listOf(answer, "errors"); len(got) != 1 || got[0]["field"] != field || !strings.Contains(fmt.Sprint(got[0]["message"]), "token") {
			t.Errorf("%s: %v", field, answer)
		}
	}
	mine := a.enqueueAround()
	joined, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["mail"],"slots":50}`, as...)
	path, session := "/api/v1/workers/"+joined["id"].(string), fmt.Sprintf(`"session":%q`, joined["session"])
	leased, _ := a.send(200, "POST", path+"/lease", "{"+session+"}", as...)
	jobs := listOf(leased, "jobs")
	if len(jobs) != 1 || jobs[0]["id"] != fmt.Sprint(mine.ID) {
		t.Fatalf("leased %v, want job %d alone", jobs, mine.ID)
	}
	if leased, _ = a.send(200, "POST", path+"/lease", "{"+session+`,"queues":["fast","default"]}`, as...); len(listOf(leased, "jobs")) != 0 {
		t.Errorf("leased %v of other queues", leased)
	}
	theirs := a.add(fairlead.Job{Kind: "http", Queue: "slow", Tenant: "acme", Key: "theirs"})
	for field, replace := range map[string]string{
		"kind":   `{"kind":"http","queue":"slow","tenant":"acme"}`,
		"queue":  `{"kind":"mail","tenant":"acme"}`,
		"tenant": `{"kind":"mail","queue":"slow"}`,

		"on_duplicate": `{"kind":"mail","queue":"slow","tenant":"acme","key":"theirs","on_duplicate":"replace"}`,
	} {
		end := fmt.Sprintf(`{%s,"settlements":[{"id":%q,"fence":%q,"outcome":"succeed","replace":%s}]}`, session, jobs[0]["id"], jobs[0]["fence"], replace)
		answer, _ := a.send(400, "POST", path+"/settle", end, as...)
		if got := listOf(answer, "errors"); len(got) != 1 || got[0]["field"] != "settlements[0].replace."+field {
			t.Errorf("a replacement of another %s: %v", field, answer)
		}
	}
	if job, err := a.client.Get(t.Context(), theirs.ID); err != nil || job.State != fairlead.Ready {
		t.Errorf("the job of another kind is %v: %v", job, err)
	}
	end := fmt.Sprintf(`{%s,"settlements":[{"id":%q,"fence":%q,"outcome":"succeed","replace":{"kind":"mail","queue":"slow","tenant":"acme"}}]}`, session, jobs[0]["id"], jobs[0]["fence"])
	if settled, _ := a.send(200, "POST", path+"/settle", end, as...); listOf(settled, "results")[0]["state"] != "succeeded" {
		t.Errorf("settled as %v", settled)
	}
}

func TestABoundWorkerIsRefusedWhatItsTokenIsNotForByName(t *testing.T) {
	for protocol, options := range protocolsOfWorkers {
		t.Run(protocol, func(t *testing.T) {
			a := newGuardedAPI(t)
			secret := a.boundWorker()
			workers := a.workersAs(secret, options)
			_, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"mail", "http"}})
			wantField(t, err, "kinds[1]")
			_, err = workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"mail"}, Queues: []string{"default"}})
			wantField(t, err, "queues[0]")
			mine := a.enqueueAround()
			joined, err := workers.JoinWorker(t.Context(), &fairleadv1.JoinWorkerRequest{Kinds: []string{"mail"}, Slots: 50})
			if err != nil {
				t.Fatal(err)
			}
			leased, err := workers.LeaseJobs(t.Context(), &fairleadv1.LeaseJobsRequest{Id: joined.GetId(), Session: joined.GetSession()})
			if err != nil || len(leased.GetJobs()) != 1 || leased.GetJobs()[0].GetId() != mine.ID {
				t.Errorf("leased %v (%v), want job %d alone", leased.GetJobs(), err, mine.ID)
			}
		})
	}
}

// A token that was replaced by a narrower one of the same name leases nothing for sessions
// that the wider one has opened.
func TestAWorkerWhoseTokenWasNarrowedJoinsAgain(t *testing.T) {
	a := newGuardedAPI(t)
	wide, id := a.addToken(access.Token{Name: "w", Role: access.RoleWorker})
	session := a.liveWorker(wide, "mail")
	a.add(fairlead.Job{Kind: "mail", Tenant: "zeta"})
	if err := a.store.DeleteToken(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	narrow, _ := a.addToken(access.Token{Name: "w", Role: access.RoleWorker, Tenants: []string{"acme"}})
	for _, method := range methods() {
		if name := method.Name(); name != "LeaseJobs" && name != "StreamJobs" {
			continue
		}
		for protocol, send := range a.protocols(method) {
			if got := send(t, method, "{"+session+"}", narrow); got != forbidden {
				t.Errorf("%s of %s: %s, want %s", protocol, method.Name(), got, forbidden)
			}
		}
	}
}

// Tokens that are not bound run every kind, as they did before tokens of workers could be
// bound: also http, and jobs of every queue and tenant.
func TestATokenThatIsNotBoundRunsEveryKind(t *testing.T) {
	a := newGuardedAPI(t)
	as := a.as(a.token(access.RoleWorker, ""))
	a.enqueueAround()
	joined, _ := a.send(200, "POST", "/api/v1/workers", `{"kinds":["mail","http"],"slots":100}`, as...)
	leased, _ := a.send(200, "POST", "/api/v1/workers/"+joined["id"].(string)+"/lease", fmt.Sprintf(`{"session":%q}`, joined["session"]), as...)
	if jobs := listOf(leased, "jobs"); len(jobs) != 61 {
		t.Errorf("leased %d jobs, want all 61", len(jobs))
	}
}
