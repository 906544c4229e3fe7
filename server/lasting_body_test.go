package server_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// A token that is revoked while the body of a request still comes does nothing more.
func TestABodyThatTakesLongActsForNoRevokedToken(t *testing.T) {
	for path, parts := range map[string][2]string{
		"/api/v1/jobs":                             {`{"jobs":[{"kind":"noop"}]`, `}`},
		"/fairlead.v1.JobService/EnqueueJobs":      {`{"jobs":[{"kind":"noop"}]`, `}`},
		"/api/v1/batches/upload?name=n&type=paint": {"target_id,target_type", "\n1,wall\n"},
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := sqlitetest.Open(t)
				service, err := server.New(node(true), store, server.Options{Version: "test", Log: slog.New(slog.DiscardHandler), Auth: server.Auth{Required: true}})
				if err != nil {
					t.Fatal(err)
				}
				secret, hash, err := server.NewSecret()
				if err != nil {
					t.Fatal(err)
				}
				token, err := store.AddToken(t.Context(), access.Token{Name: "x", Role: access.RoleAdmin, Hash: hash})
				if err != nil {
					t.Fatal(err)
				}
				connections := newPipes()
				web := server.Web(service)
				served := make(chan error)
				go func() { served <- web.Serve(connections) }()
				conn := connections.dial()
				go func() {
					size := len(parts[0]) + len(parts[1])
					_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, secret, kindOf(path), size, parts[0])
					if err := store.DeleteToken(t.Context(), token.ID); err != nil {
						t.Error(err)
					}
					time.Sleep(8 * time.Second) // of the bubble: within the patience for a body
					_, _ = io.WriteString(conn, parts[1])
				}()
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusUnauthorized {
					t.Errorf("%s %s", response.Status, strings.TrimSpace(string(text)))
				}
				_ = response.Body.Close()
				_ = conn.Close()
				_ = web.Close()
				<-served
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// kindOf returns the content type of requests to a path.
func kindOf(path string) string {
	if strings.Contains(path, "upload") {
		return "text/csv"
	}
	return "application/json"
}
