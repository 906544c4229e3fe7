package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Paths of a target: one responds immediately without a body, one with a word, others after
// a delay, and one returns the number of calls.
const (
	targetAtOnce = "/at-once/"
	targetOK     = "/ok/"
	targetFast   = "/fast/"
	targetUsual  = "/usual/"
	targetCount  = "/count"
)

// Response times of the delayed paths.
const (
	fastAnswer  = time.Millisecond
	usualAnswer = 5 * time.Millisecond
)

// ServeTarget runs the server that HTTP sweeps call. It writes its address as a line to the
// output, and ends at the end of the input.
func ServeTarget(ctx context.Context, input io.Reader, output io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var calls atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc(targetAtOnce, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	mux.HandleFunc(targetOK, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		fmt.Fprint(w, "ok")
	})
	for path, takes := range map[string]time.Duration{targetFast: fastAnswer, targetUsual: usualAnswer} {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {
			time.Sleep(takes)
			calls.Add(1)
		})
	}
	mux.HandleFunc(targetCount, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, calls.Load()) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(output, "http://%s\n", listener.Addr()); err != nil {
		return errors.Join(err, server.Close(), <-served)
	}
	_, err = io.Copy(io.Discard, input) // the server ends with the input, even after an error
	closed := server.Close()
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return errors.Join(err, closed)
}

// callsOf returns the number of calls that a target has received.
func callsOf(ctx context.Context, target string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target+targetCount, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
