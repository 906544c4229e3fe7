package main

import (
	"os"
	"path/filepath"
	"testing"
)

// asProgram makes the test program the real one, for tests that need a process.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	if err := os.Setenv(asProgram, "1"); err != nil { // what tests start is the program
		panic(err)
	}
	os.Exit(m.Run())
}

// programs is a directory with the program in it, by its name.
func programs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "fairlead")); err != nil {
		t.Fatal(err)
	}
	return dir
}
