package cdc_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/cdc"
)

// What a cluster answers ends with the time of its request, and errors do not tell from
// where it was called.
func TestNoClusterHoldsAnOperation(t *testing.T) {
	for what, answer := range map[string]string{
		"switches protocols": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"sends no body":      "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
		"never answers":      "",
		"closes":             "closes",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || answer == "closes" {
							return
						}
						_, _ = io.WriteString(conn, answer)
						_, _ = io.Copy(io.Discard, conn)
					}()
				}
			}()
			handler, err := cdc.New(cdc.Config{
				Clusters: []cdc.Cluster{{Name: "a", Env: "live", URL: "http://" + listener.Addr().String()}}, RequestTimeout: 200 * time.Millisecond, Poll: time.Millisecond, MaxPoll: time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, operation := range handler.Operations() {
				if operation.BatchType == cdc.BatchStart {
					err = operation.Process(t.Context(), task(cdc.BatchStart), nil, nil)
				}
			}
			if err == nil || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
