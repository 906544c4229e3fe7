package cli

import (
	"strings"
	"testing"
)

func TestTokensAreMadeAndShownOnce(t *testing.T) {
	r := newRig(t)
	stdout, stderr := r.typed(ExitOK, "token", "create", "--name", "ci", "--role", "submitter", "--tenant", "a", "--tenant", "b", "--expires", "90d")
	if secret := strings.TrimSuffix(stdout, "\n"); !strings.HasPrefix(secret, "fl_") || strings.ContainsAny(secret, " \n") || !strings.Contains(stderr, `token 1 "ci"`) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if !strings.Contains(stderr, "no token has the role admin") {
		t.Errorf("that no token may make others is not said: %s", stderr)
	}
	made := r.document("token", "create", "--name", "me", "--role", "admin")
	secret, _ := made["secret"].(string)
	if !strings.HasPrefix(secret, "fl_") {
		t.Errorf("it is %v", made)
	}
	if list := r.says([]string{"me", "(all)", "never", "a,b"}, "token", "list"); strings.Contains(list, secret) {
		t.Errorf("the list tells the secret:\n%s", list)
	}
	if _, stderr := r.typed(ExitOK, "token", "create", "--name", "view", "--role", "viewer"); strings.Contains(stderr, "no token has") {
		t.Errorf("it is said that there is no admin: %s", stderr)
	}
	r.fails(ExitConflict, "already exists", "token", "create", "--name", "me", "--role", "admin")
	r.fails(ExitUsage, "--role: ", "token", "create", "--name", "x", "--role", "boss")
	r.fails(ExitUsage, "--tenant: ", "token", "create", "--name", "x", "--role", "admin", "--tenant", "a")
	r.fails(ExitUsage, "specify --name and --role (viewer, ", "token", "create")
	r.fails(ExitUsage, "specify --role (viewer, ", "token", "create", "--name", "x")
	if _, stderr := r.typed(ExitUsage, "token", "create", "--role", "admin"); stderr != "specify --name" {
		t.Errorf("without a name: %s", stderr)
	}
	r.says([]string{"token 1 deleted"}, "token", "delete", "1")
	r.fails(ExitNotFound, "not found", "token", "delete", "1")
}

func TestTheAuditLogIsFiltered(t *testing.T) {
	r := newRig(t)
	r.typed(ExitOK, "queue", "pause", "mail")
	r.typed(ExitOK, "queue", "resume", "mail")
	r.typed(ExitOK, "tenant", "create", "acme")
	if all := r.document("audit", "list", "--actor", "local", "--from", "1h"); len(all["items"].([]any)) != 3 {
		t.Errorf("the audit log is %v", all)
	}
	if out := r.says([]string{"PauseQueue", "queue:mail", "local"}, "audit", "list", "--action", "PauseQueue", "--subject", "queue:mail"); strings.Contains(out, "Resume") {
		t.Errorf("it is not filtered:\n%s", out)
	}
	if out := r.says(nil, "audit", "list", "--to", "1h"); strings.Count(out, "\n") != 1 {
		t.Errorf("an hour ago there was\n%s", out)
	}
}
