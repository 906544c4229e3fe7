//go:build linux

package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestTheTimeOfABuildIsSharedByModules(t *testing.T) {
	actions := []action{
		{Package: "fmt", CmdUser: time.Second},
		{Package: "example.org/large", CmdUser: 2 * time.Second, CmdSys: time.Second},
		{Package: "example.org/large/part/deep", CmdUser: 3 * time.Second},
		{Package: "example.org/large/own/x", CmdUser: 4 * time.Second},
		{Package: "example.org/largest", CmdSys: time.Second}, // no module has this path
		{Package: ""},
	}
	want := []share{{"example.org/large", 6 * time.Second}, {"example.org/large/own", 4 * time.Second}, {standard, 2 * time.Second}}
	if got := sharesOf(actions, []string{"example.org/large", "example.org/large/own"}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheTimeOfChildrenCounts(t *testing.T) {
	before, err := treeCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	busy := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	if err := busy.Run(); err != nil {
		t.Fatal(err)
	}
	after, err := treeCPU(os.Getpid())
	if used := busy.ProcessState.UserTime() + busy.ProcessState.SystemTime(); err != nil || after-before < used-10*tick {
		t.Errorf("a child used %v, and all of them %v: %v", used, after-before, err)
	}
}
