package main

import (
	"io"
	"net"
	"strings"
	"testing"
)

func TestPeersThatDoNotSpeakTLSAreInTheLogOfTheServer(t *testing.T) {
	cert, key, _ := selfSigned(t)
	node := startServe(t, "--db", "sqlite://:memory:", "--tls-cert", cert, "--tls-key", key)
	for range 50 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(node.url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("\x1b[2Jthis is no handshake\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn) // until the server has closed it
		_ = conn.Close()
	}
	node.cancel()
	log := <-node.log
	if lines := strings.Count(log, "msg=\"TLS handshake failed\" from=127.0.0.1:"); lines == 0 || lines > 10 {
		t.Errorf("50 failed handshakes make %d lines: %s", lines, log)
	}
}
