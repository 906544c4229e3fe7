package main

import (
	"net"
	"os"
	"testing"
)

func TestAnAddressForAllIsNamedAfterTheMachine(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct {
		hostport string
		guessed  bool
	}{
		"127.0.0.1:7717":   {"127.0.0.1:7717", false},
		"[2001:db8::1]:80": {"[2001:db8::1]:80", false},
		"0.0.0.0:7717":     {machine + ":7717", true},
		"[::]:7717":        {machine + ":7717", true},
	} {
		addr, err := net.ResolveTCPAddr("tcp", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, guessed := reachable(addr); got != want.hostport || guessed != want.guessed {
			t.Errorf("%s is reached as %s (guessed: %v), want %s (%v)", text, got, guessed, want.hostport, want.guessed)
		}
	}
}
