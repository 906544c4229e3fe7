package cli

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/api/rpc"
)

// answers are responses of a server that a test cannot cause otherwise, such as wrong
// counts of limits.
type answers struct {
	watched chan struct{} // receives a value whenever a job is watched
}

// verify returns a response with a finding.
func (answers) verify(context.Context, proto.Message) (proto.Message, error) {
	return &fairleadv1.VerifyResponse{Items: []*fairleadv1.Drift{{Scope: "global", Counted: 3, Found: 2}}}, nil
}

// watchJob ends the first stream early, fails the second time because the server is
// unavailable, and the third time because its server is stopping.
func (a answers) watchJob(_ context.Context, in proto.Message, send func(proto.Message) error) error {
	id := in.(*fairleadv1.GetJobRequest).GetId()
	a.watched <- struct{}{}
	switch len(a.watched) {
	case 1:
		return send(&fairleadv1.Job{Id: id, State: "ready"}) // then the stream ends, like that of a stopping server
	case 2:
		return connect.NewError(connect.CodeUnavailable, context.Canceled)
	case 3:
		return connect.NewError(connect.CodeCanceled, context.Canceled)
	}
	return send(&fairleadv1.Job{Id: id, State: "succeeded"})
}

func newAnswers(t *testing.T) *rig {
	t.Helper()
	alone(t)
	a := answers{watched: make(chan struct{}, 10)}
	limits := fairleadv1.File_fairlead_v1_cluster_proto.Services().ByName("LimitService").Methods()
	jobs := fairleadv1.File_fairlead_v1_job_proto.Services().ByName("JobService").Methods()
	mux := http.NewServeMux()
	mux.Handle(fairleadv1connect.LimitServiceVerifyProcedure, rpc.NewHandler(limits.ByName("Verify"), a.verify))
	mux.Handle(fairleadv1connect.JobServiceWatchJobProcedure, rpc.NewStreamHandler(jobs.ByName("WatchJob"), a.watchJob))
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	return &rig{T: t, url: web.URL}
}

func TestVerifyFailsIfThereWasDrift(t *testing.T) {
	r := newAnswers(t)
	stdout, stderr := r.typed(ExitFailure, "verify")
	if !strings.Contains(stdout, "global        3      2") || !strings.Contains(stderr, "limits with corrected counts: 1") {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// A command that waits for a job survives a restart of its server.
func TestAWatchThatIsCutIsTakenUpAgain(t *testing.T) {
	r := newAnswers(t)
	r.says([]string{"job 5: ready", "job 5: succeeded"}, "job", "watch", "5")
}

// A server that dies in the middle of its response counts as unreachable, whatever code
// connect gives for the connection reset.
func TestAServerThatDiesIsNotReached(t *testing.T) {
	alone(t)
	web := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(out).Hijack()
		if err != nil {
			panic(err)
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}))
	defer web.Close()
	r := &rig{T: t, url: web.URL}
	r.fails(ExitUnavailable, "cannot reach", "job", "list")
}

func TestMethodsThatAServerDoesNotKnow(t *testing.T) {
	r := newAnswers(t)
	r.fails(ExitFailure, "as new as this program", "job", "list")
	r.fails(ExitFailure, "as new as this program", "queue", "list")
}

// Fields within --args have names of their own, which are not names of flags.
func TestRefusedFieldsAreNamedAsTheyWereTyped(t *testing.T) {
	cmd := &cobra.Command{Use: "create NAME"}
	for _, flag := range []string{"args", "rate", "timeout", "label"} {
		cmd.Flags().String(flag, "", "")
	}
	for field, want := range map[string]string{
		"sweep.rate": "--rate", "sweep.labels[0]": "--label", "sweep.name": "NAME", "sweep.other": "sweep.other", "args": "--args",
		"args.timeout": "--timeout",
	} {
		if got := typedAs(cmd, field); got != want {
			t.Errorf("%s is named %s, and not %s", field, got, want)
		}
	}
	if err := cmd.Flags().Set("args", "{}"); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{"args.timeout": "args.timeout", "sweep.args.rate": "sweep.args.rate", "args": "--args", "rate": "--rate"} {
		if got := typedAs(cmd, field); got != want {
			t.Errorf("%s is named %s, and not %s", field, got, want)
		}
	}
}
