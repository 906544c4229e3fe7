package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead/internal/testprogram"
)

// remind is the interval at which the packages still running are listed.
const remind = 30 * time.Second

// session runs a plan.
type session struct {
	plan   plan
	out    io.Writer
	report *report
	build  func() (string, error) // builds the program once and returns its path
	flakes []*failure             // failures of the second tier that passed when repeated
}

func newSession(p plan, out io.Writer) *session {
	s := &session{plan: p, out: out, report: newReport(out, time.Now, p.root)}
	s.report.verbose = p.verbose()
	s.build = sync.OnceValues(s.buildProgram)
	return s
}

// buildProgram builds the program run by tests of other modules.
func (s *session) buildProgram() (string, error) {
	program := filepath.Join(s.plan.root, "bin", "fairlead-test")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", program, "./cmd/fairlead")
	command.Dir = s.plan.root
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/fairlead: %w\n%s", err, output)
	}
	return program, nil
}

func (s *session) longFile() string { return filepath.Join(s.plan.root, "bin", "long-tests.json") }

// play runs all tiers of the plan, prints the summary and reports success.
func (s *session) play(ctx context.Context) bool {
	if err := os.RemoveAll(filepath.Join(s.plan.root, logsDir)); err != nil {
		fmt.Fprintln(s.out, "testrun:", err)
	}
	for _, t := range s.plan.tiers {
		var err error
		if t == first {
			err = s.playFirst(ctx)
		} else {
			err = s.playSecond(ctx)
		}
		if err != nil {
			s.report.fail(&failure{path: "testrun", output: err.Error(), check: &check{".", os.Args}})
		}
	}
	return s.summarize(ctx)
}

func (s *session) playFirst(ctx context.Context) error {
	for _, step := range s.plan.firstSteps() {
		s.playStep(ctx, step, first)
	}
	if !s.plan.whole() || ctx.Err() != nil {
		return nil
	}
	return s.report.long.write(s.longFile())
}

// playSecond runs the long tests and repeats each failure once.
func (s *session) playSecond(ctx context.Context) error {
	long, err := readLong(s.longFile())
	if err != nil {
		return err
	}
	if slices.Contains(s.plan.tiers, first) {
		long = s.report.long
	} else if long == nil {
		fmt.Fprintln(s.out, "The first tier has not run here, so that its long tests are not known: all tests run at full size.")
	}
	if long != nil && s.plan.packages != nil {
		long = long.of(call{dir: ".", packages: s.plan.packages}.list(ctx, s.plan.root))
	}
	before := len(s.report.failures)
	s.report.results = map[string]map[string]string{}
	for _, step := range s.plan.secondSteps(long) {
		s.playStep(ctx, step, second)
		s.repeat(ctx, before)
		before = len(s.report.failures)
	}
	if ctx.Err() == nil && s.plan.whole() {
		s.requireAll(long)
	}
	return nil
}

// requireAll reports a failure for each long test that the second tier did not run either.
func (s *session) requireAll(long longTests) {
	for dir, packages := range long {
		for pkg, tests := range packages {
			for _, test := range topmost(tests) {
				if _, ran := s.report.results[pkg][test]; !ran {
					s.report.fail(&failure{call: call{dir: dir}, path: pkg, test: test, output: "this test runs in neither tier\n"})
				}
			}
		}
	}
}

// playStep runs the calls of a step, some in parallel, and its checks.
func (s *session) playStep(ctx context.Context, st step, t tierName) {
	if ctx.Err() != nil || len(st.calls)+len(st.checks) == 0 {
		return
	}
	fmt.Fprintf(s.out, "== %s tier: %s\n", strings.ToUpper(string(t[:1]))+string(t[1:]), strings.TrimPrefix(st.name, string(t)+" tier: "))
	var paths []string
	for i := range st.calls {
		st.calls[i].flags = slices.Concat(st.calls[i].flags, s.plan.flags)
		listed := st.calls[i].list(ctx, s.plan.root)
		paths = append(paths, listed...)
		if slices.Contains(st.calls[i].flags, "-race") && listed != nil {
			st.calls[i].packages = listed
		}
	}
	s.report.begin(paths)
	s.callAll(ctx, st.calls)
	for _, c := range st.checks {
		s.check(ctx, c)
	}
}

// lines is output from a call of go test, or its end.
type lines struct {
	call call
	text string // empty at the end of the call
	err  error
}

// callAll runs calls of go test, some in parallel, and reports their output.
func (s *session) callAll(ctx context.Context, calls []call) {
	written, turns := make(chan lines), make(chan struct{}, atOnce)
	var group sync.WaitGroup
	go func() {
		for _, c := range calls {
			turns <- struct{}{}
			group.Go(func() {
				defer func() { <-turns }()
				err := s.call(ctx, c, written)
				written <- lines{call: c, err: err}
			})
		}
		group.Wait()
		close(written)
	}()
	ticker := time.NewTicker(remind)
	defer ticker.Stop()
	for {
		select {
		case l, more := <-written:
			switch {
			case !more:
				return
			case l.text != "":
				s.report.line(l.call, l.text)
			default:
				s.ended(l.call, l.err)
			}
		case <-ticker.C:
			s.report.remind()
		}
	}
}

// ended processes the end of a call. If the call failed although each of its packages
// passed, for example because a pattern matches nothing, the call itself is the failure.
func (s *session) ended(c call, err error) {
	before := len(s.report.failures)
	s.report.abandon(c)
	known := slices.ContainsFunc(s.report.failures, func(f *failure) bool { return f.call.dir == c.dir && slices.Equal(f.call.packages, c.packages) })
	if err != nil && len(s.report.failures) == before && !known {
		s.report.fail(&failure{call: c, path: strings.Join(c.packages, " "), output: "go test: " + err.Error() + "\n"})
	}
}

// call runs go test and sends its output to written.
func (s *session) call(ctx context.Context, asked call, written chan<- lines) error {
	if ctx.Err() != nil {
		return nil
	}
	c := asked
	if c.program {
		program, err := s.build()
		if err != nil {
			return err
		}
		c.env = append(slices.Clone(c.env), testprogram.Env+"="+program)
	}
	command := exec.CommandContext(ctx, "go", c.arguments()...)
	command.Dir, command.Env, command.Stderr = filepath.Join(s.plan.root, c.dir), append(os.Environ(), c.env...), os.Stderr
	// After an orderly end, tests remove what they created.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return err
	}
	reader := bufio.NewReader(output)
	for err == nil {
		var line string
		if line, err = reader.ReadString('\n'); line != "" {
			written <- lines{call: asked, text: line}
		}
	}
	return command.Wait()
}

// check runs a command that must succeed without output.
func (s *session) check(ctx context.Context, c check) {
	if ctx.Err() != nil {
		return
	}
	name := strings.Join(c.command, " ")
	fmt.Fprintf(s.out, "   %s\n", in(c.dir, name))
	command := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	command.Dir = filepath.Join(s.plan.root, c.dir)
	output, err := command.CombinedOutput()
	printed := err == nil && len(output) > 0 && c.command[0] == "gofmt"
	if err == nil && !printed {
		return
	}
	if printed {
		err = errors.New("these files are not formatted; run make fmt")
	}
	s.report.fail(&failure{path: name, output: fmt.Sprintf("%v\n%s", err, output), check: &c})
}

// repeat runs each test that failed since an index again, with the same seed. A test that
// passes then becomes a warning instead of a failure.
func (s *session) repeat(ctx context.Context, since int) {
	failed := slices.Clone(s.report.failures[since:])
	s.report.failures = s.report.failures[:since]
	for _, f := range failed {
		if f.check != nil || ctx.Err() != nil {
			s.report.failures = append(s.report.failures, f)
			continue
		}
		fmt.Fprintf(s.out, "== Again, with the same seed: %v\n", f)
		count := len(s.report.failures)
		s.report.begin(f.again().packages)
		s.callAll(ctx, []call{f.again()})
		if len(s.report.failures) == count {
			s.flakes = append(s.flakes, f)
		}
	}
}
