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
	"sync"
)

// nodeProcess is a program of graphileDir in a separate process. It ends at the end of its
// input, and so also when this process dies.
type nodeProcess struct {
	program string
	input   io.WriteCloser
	output  *bufio.Scanner
	wait    func() error // returns when it has ended

	mu    sync.Mutex // guards lines
	lines *json.Encoder
}

// startNode starts a program, passes it its settings and waits until it is ready.
func startNode(ctx context.Context, program string, settings graphileSettings) (*nodeProcess, error) {
	cmd := exec.CommandContext(ctx, "node", program)
	cmd.Dir, cmd.Stderr = graphileDir, os.Stderr
	cmd.Env = append(os.Environ(), "NO_LOG_SUCCESS=1", "NODE_ENV=production")
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &nodeProcess{program: program, input: input, output: bufio.NewScanner(output), lines: json.NewEncoder(input)}
	p.wait = sync.OnceValue(func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		return nil
	})
	if err := p.send(settings); err != nil {
		return nil, errors.Join(err, p.wait())
	}
	if ready, err := p.next(); err != nil || !ready.Ready {
		p.input.Close()
		return nil, errors.Join(fmt.Errorf("%s did not start", program), err, p.wait())
	}
	return p, nil
}

// send writes one line.
func (p *nodeProcess) send(line any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.lines.Encode(line); err != nil {
		return fmt.Errorf("%s: %w", p.program, err)
	}
	return nil
}

// next reads one line. It returns io.EOF after the last.
func (p *nodeProcess) next() (graphileReport, error) {
	if !p.output.Scan() {
		return graphileReport{}, errors.Join(io.EOF, p.output.Err())
	}
	var r graphileReport
	if err := json.Unmarshal(p.output.Bytes(), &r); err != nil {
		return r, fmt.Errorf("%s said %q: %w", p.program, p.output.Text(), err)
	}
	return r, nil
}

// follow passes all lines to report until the output ends.
func (p *nodeProcess) follow(report func(graphileReport)) error {
	for {
		r, err := p.next()
		switch {
		case errors.Is(err, io.EOF):
			return p.output.Err()
		case err != nil:
			return err
		}
		report(r)
	}
}
