package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// echo is a target that repeats its requests in every spelling and records the messages to its hooks.
type echo struct {
	*httptest.Server
	done chan struct{} // closed when the test ends

	mu       sync.Mutex
	messages map[string][]string // by the path
}

// The ways in which the target answers. Each is the first segment of a path.
const (
	answers   = "/ok"
	refuses   = "/refuse"
	redirects = "/redirect"
	explains  = "/explain"
	garbles   = "/garble"
	hangs     = "/hang"
	breaksOff = "/break"
	accepts   = "/accept"
	waits     = "/wait"
	hook      = "/hook"
)

func newEcho(t *testing.T) *echo {
	e := &echo{done: make(chan struct{}), messages: map[string][]string{}}
	e.Server = httptest.NewServer(e)
	t.Cleanup(func() {
		close(e.done)
		e.Close()
	})
	return e
}

// ServeHTTP answers as the path says.
func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch way := "/" + first; way {
	case hook:
		e.mu.Lock()
		e.messages[r.URL.Path] = append(e.messages[r.URL.Path], string(body))
		e.mu.Unlock()
	case hangs:
		select {
		case <-r.Context().Done():
		case <-e.done:
		}
	case breaksOff:
		panic(http.ErrAbortHandler)
	case explains:
		raw(w, "503 "+said(r, body))
	case garbles:
		raw(w, said(r, body))
	case accepts, waits:
		w.WriteHeader(http.StatusAccepted)
		go e.callBack(r.Header, body, way == accepts)
	default:
		w.Header().Set("Location", "/next?"+url.Values{"data": {string(body)}, "from": {r.URL.String()}}.Encode())
		w.Header().Set("X-Query", r.URL.RawQuery)
		w.Header().Set("X-Sent", r.Header.Get("Authorization")+" "+r.Header.Get("X-Hidden"))
		w.WriteHeader(map[string]int{answers: http.StatusOK, refuses: http.StatusUnprocessableEntity, redirects: http.StatusFound}[way])
		_, _ = io.WriteString(w, repeated(r, body))
	}
}

// repeated returns a JSON object with the request and with the strings of its body in every
// spelling.
func repeated(r *http.Request, body []byte) string {
	answer := map[string]any{"body": string(body), "url": r.URL.String(), "path": r.URL.Path, "query": r.URL.Query(), "headers": r.Header}
	var sent map[string]string
	if json.Unmarshal(body, &sent) == nil {
		for name, value := range sent {
			answer[name] = value
			if len(value) < 1<<10 {
				answer["spelled "+name] = allSpellings(value)
			}
		}
	}
	return literal(answer)
}

// said returns the query and the body of a request in one line.
func said(r *http.Request, body []byte) string {
	return fmt.Sprintf("%.900s", strings.Join(strings.Fields(r.URL.Query().Get("q")+" "+string(body)), " "))
}

// raw answers with a status line that no handler of Go's can send.
func raw(w http.ResponseWriter, status string) {
	conn, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(buffer, "HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status)
	_ = buffer.Flush()
}

// callBack reports progress for an accepted call, and its failure.
func (e *echo) callBack(sent http.Header, body []byte, end bool) {
	var values map[string]string
	_ = json.Unmarshal(body, &values) // a body that is no object reports less
	answers := []any{object{"status": "progress", "output": object{"secret": values["secret"], "note": values["note"], "all": allSpellings(values["secret"])}}}
	if end {
		answers = append(answers, object{"status": "failure", "error": begins("declined: " + allSpellings(values["secret"]) + allSpellings(values["note"]))})
	}
	for _, answer := range answers {
		request, err := http.NewRequest(http.MethodPost, sent.Get("Fairlead-Callback-Url"), strings.NewReader(literal(answer))) //nolint:noctx // the test ends with the program
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+sent.Get("Fairlead-Callback-Token"))
		if response, err := http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, bufio.NewReader(response.Body))
			_ = response.Body.Close()
		}
	}
}

// received returns the messages at a hook.
func (e *echo) received(path string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.messages[path]...)
}
