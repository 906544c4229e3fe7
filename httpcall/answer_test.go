package httpcall

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"
)

func TestPlainAnswers(t *testing.T) {
	for answer, plain := range map[string]bool{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok":                                         true,
		"HTTP/1.1 200 \r\nDate: today\r\ncontent-length:  2 \r\n\r\nok":                          true,
		"HTTP/1.1 204 No Content\r\n\r\n":                                                        true,
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok":                                         false,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok":                    false,
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":                                          false,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok":                    false,
		"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok":               true,
		"HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nok":        false,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0": false,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n X: y\r\n\r\nok":                                false,
		"HTTP/1.1 200 OK\r\n\r\nok":                                                              false,
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nok":                                               false,
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok":                                         false,
		"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nok":                                         false,
		"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok":                                        false,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r":                                                 false,
		"":                                                                                       false,
	} {
		if _, got := readPlain([]byte(answer)); got != plain {
			t.Errorf("%q is plain: %v", answer, got)
		}
	}
}

// What is taken for a plain answer is one, by those who know all of HTTP.
func FuzzPlainAnswers(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Y: z\r\n\r\nok"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nconnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"))
	f.Add([]byte("HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n"))
	f.Fuzz(func(t *testing.T, arrived []byte) {
		a, plain := readPlain(arrived)
		if !plain {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(arrived))
		response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodPost})
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != a.status || !bytes.Equal(body, a.body) || response.Close {
			t.Errorf("it is %d %q: %v", response.StatusCode, body, err)
		}
		if left, _ := io.ReadAll(reader); len(left) != len(arrived)-a.size {
			t.Errorf("%d bytes are left", len(left))
		}
	})
}
