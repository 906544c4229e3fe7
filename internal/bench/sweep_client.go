package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"time"

	"golang.org/x/sync/errgroup"
)

// plainClient returns the client to compare sweeps with: wrk if it is installed, otherwise
// plain connections that only make calls.
func (s SweepCalls) plainClient() (call func(ctx context.Context, target string) error, name string) {
	program, err := exec.LookPath("wrk")
	if err != nil {
		return s.callPlainly, "plain client (wrk is not installed)"
	}
	return func(ctx context.Context, target string) error {
		const threads, spare = 2, 5 * time.Second
		long := int((time.Duration(s.Seconds*float64(time.Second)) + spare) / time.Second)
		cmd := exec.CommandContext(ctx, program, "-t", fmt.Sprint(min(threads, s.InFlight)), "-c", fmt.Sprint(s.InFlight), "-d", fmt.Sprintf("%ds", long), target)
		said, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was measured, and is killed
		}
		return fmt.Errorf("wrk ended: %w: %s", err, said)
	}, "wrk"
}

// callPlainly keeps as many connections busy as there are items in flight.
func (s SweepCalls) callPlainly(ctx context.Context, target string) error {
	parsed, err := url.Parse(target)
	if err != nil {
		return err
	}
	request := []byte(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", parsed.Path, parsed.Host))
	var group errgroup.Group
	for range s.InFlight {
		group.Go(func() error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", parsed.Host)
			if err != nil {
				return err
			}
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			defer conn.Close()
			err = callAgainAndAgain(conn, request)
			if ctx.Err() != nil { // the measurement has ended
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// callAgainAndAgain sends the same request after each response.
func callAgainAndAgain(conn io.ReadWriter, request []byte) error {
	answers := bufio.NewReader(conn)
	sent := &http.Request{Method: http.MethodGet}
	for {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		answer, err := http.ReadResponse(answers, sent)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if err := firstError(err, answer.Body.Close()); err != nil {
			return err
		}
	}
}
