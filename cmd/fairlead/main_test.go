package main

import (
	"flag"
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
	flag.Parse()
	if err := waitTogether(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// waitTogether runs more parallel tests of the first tier at once than there are
// processors, unless the command line says how many: most of them wait for processes and
// for the clock. In the second tier they race leases, which need the processors.
func waitTogether() error {
	const parallel = "test.parallel"
	chosen := !testing.Short()
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == parallel })
	if chosen {
		return nil
	}
	return flag.Set(parallel, "6")
}

// programs returns a directory that contains the program, under its name.
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
