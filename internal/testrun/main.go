// Command testrun runs go test and says how far it is:
//
//	go run ./internal/testrun -timeout 30m -- ./...
//
// What stands before the two dashes are flags of go test, what stands behind them are
// packages. go test prints packages in the order in which they are listed, so that one
// slow package holds up the lines of all others. This command prints the line of a
// package as soon as it ends, with how many have ended, and says every half minute what
// still runs. It prints what failed tests wrote; with -v, what all tests wrote. The exit
// code is that of go test.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit codes besides those of go test.
const (
	exitFailure = 1
	exitUsage   = 2
)

// remind is how often the packages that still run are named.
const remind = 30 * time.Second

func main() {
	dashes := slices.Index(os.Args, "--")
	if dashes < 0 || dashes == len(os.Args)-1 {
		fmt.Fprintln(os.Stderr, "usage: testrun [flag of go test ...] -- package ...")
		os.Exit(exitUsage)
	}
	os.Exit(run(os.Args[1:dashes], os.Args[dashes+1:], os.Stdout))
}

// run tests packages and returns the exit code.
func run(flags, packages []string, out io.Writer) int {
	// A terminal sends signals to go test as well. Its end is waited for.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	report := newReport(out, list(packages), time.Now)
	report.verbose = showsAll(flags)
	arguments := slices.Concat([]string{"test", "-json"}, flags, packages)
	command := exec.CommandContext(context.Background(), "go", arguments...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		return exitFailure
	}
	lines := make(chan string)
	go read(output, lines)
	ticker := time.NewTicker(remind)
	defer ticker.Stop()
	for reading := true; reading; {
		select {
		case line, more := <-lines:
			reading = more
			report.line(line)
		case <-ticker.C:
			report.remind()
		case received := <-signals:
			_ = command.Process.Signal(received) // fails only if it has ended
		}
	}
	err = command.Wait()
	ok := report.close()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "testrun: go test:", err)
		return exitFailure
	case !ok:
		return exitFailure
	}
	return 0
}

// read passes lines on, of any length, and closes the channel after the last one.
func read(from io.Reader, lines chan<- string) {
	defer close(lines)
	reader := bufio.NewReader(from)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			lines <- line
		}
		if err != nil {
			return
		}
	}
}

// list returns the import paths of packages. It returns none if they cannot be listed;
// go test then says why.
func list(packages []string) []string {
	output, err := exec.CommandContext(context.Background(), "go", append([]string{"list", "-e", "--"}, packages...)...).Output()
	if err != nil {
		return nil
	}
	paths := strings.Fields(string(output))
	slices.Sort(paths)
	return slices.Compact(paths)
}

// showsAll reports whether flags ask for what passing tests write too.
func showsAll(flags []string) bool {
	return slices.ContainsFunc(flags, func(flag string) bool {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return strings.HasPrefix(flag, "-") && slices.Contains([]string{"v", "test.v", "bench", "list"}, name) && value != "false"
	})
}

// event is a line of go test -json; see "go doc test2json" and "go help buildjson".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// parse returns the event of a line, if it is one.
func parse(line string) (event, bool) {
	var e event
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil && e.Action != ""
}
