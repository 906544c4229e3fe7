package server_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// A session is worth nothing without the token that opened it: neither another worker nor an
// admin may use one that it has read somewhere.
func TestOnlyTheTokenThatOpenedASessionMayUseIt(t *testing.T) {
	a := newGuardedAPI(t)
	owner, _ := a.addToken(access.Token{Name: "owner", Role: access.RoleWorker})
	other, _ := a.addToken(access.Token{Name: "other", Role: access.RoleWorker})
	session := a.liveWorker(owner, "noop")
	tried := 0
	for _, method := range methods() {
		row := everyMethod[method.Name()]
		if !strings.Contains(row.request, "GONE") {
			continue
		}
		text := strings.ReplaceAll(row.request, "GONE", session)
		for protocol, send := range a.protocols(method) {
			for name, secret := range map[string]string{"another worker": other, "an admin": a.token(access.RoleAdmin, "")} {
				tried++
				if got := send(t, method, text, secret); got != forbidden {
					t.Errorf("%s of %s by %s: %s, want %s", protocol, method.Name(), name, got, forbidden)
				}
			}
		}
	}
	if tried < 13*4*2 {
		t.Errorf("only %d calls were tried", tried)
	}
	for _, method := range methods() {
		if method.Name() == "BeatWorker" {
			if got := a.grpc(t, method, "{"+session+"}", owner); got != through {
				t.Errorf("the owner's beat: %s", got)
			}
		}
	}
}
