package overload

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/iotest"
)

func TestABodyThatCameTooLateIsSaidToBeSlow(t *testing.T) {
	for cause, want := range map[error]error{os.ErrDeadlineExceeded: ErrSlowBody, io.ErrUnexpectedEOF: io.ErrUnexpectedEOF, io.EOF: io.EOF} {
		body := &timedBody{ReadCloser: io.NopCloser(iotest.ErrReader(cause)), conn: http.NewResponseController(httptest.NewRecorder()), left: Patience}
		if _, err := body.Read(make([]byte, 1)); !errors.Is(err, want) {
			t.Errorf("%v is reported as %v", cause, err)
		}
		if errors.Is(cause, io.EOF) {
			body.ReadCloser = nil // what is over is not read again
			if _, err := body.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("after its end: %v", err)
			}
		}
	}
}
