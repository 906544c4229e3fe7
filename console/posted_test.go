package console

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// largeFile returns a form with a file of the given size.
func largeFile(t *testing.T, bytesOfFile int) (kind string, body []byte) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for name, value := range map[string]string{"token": "x", "next": "/jobs", "state": "s", "code": "c"} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	file, err := form.CreateFormFile("lines", "lines.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(bytes.Repeat([]byte("x\n"), bytesOfFile/2)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return form.FormDataContentType(), out.Bytes()
}

// unread is a body that counts the bytes read from it.
type unread struct {
	io.Reader
	read int
}

// Read reads on.
func (u *unread) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.read += n
	return n, err
}

// Close ends it.
func (*unread) Close() error { return nil }

// The body of a GET is never read, on any page, because strangers may send anything.
func TestTheBodyOfAGetIsNotRead(t *testing.T) {
	r := newRig(t, true, nil)
	kind, sent := largeFile(t, 1<<20)
	for _, path := range []string{"/login?next=/jobs", "/login/provider", "/login/callback", "/", "/jobs", "/new/batch", "/find?q=x", "/static/x", "/docs"} {
		for _, handler := range []http.Handler{r.api, r.console} {
			body := &unread{Reader: bytes.NewReader(sent)}
			request := httptest.NewRequest(http.MethodGet, path, body)
			request.Header.Set("Content-Type", kind)
			handler.ServeHTTP(httptest.NewRecorder(), request)
			if body.read > 0 {
				t.Errorf("%s: %d bytes of the body were read", path, body.read)
			}
		}
	}
}

// A form leaves nothing in the temporary directory, however it ends.
func TestAFormLeavesNoFiles(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	r := newRig(t, true, nil)
	secret := r.token("sender", access.RoleSubmitter)
	for _, size := range []int{100, 12 << 20, 40 << 20} {
		kind, sent := largeFile(t, size)
		for _, asked := range []string{"GET /login", "POST /login", "POST /preferences", "POST /new/batch", "POST /new/job"} {
			verb, path, _ := strings.Cut(asked, " ")
			request := httptest.NewRequest(verb, path, bytes.NewReader(sent))
			request.Header.Set("Content-Type", kind)
			request.AddCookie(&http.Cookie{Name: sessionCookie, Value: secret})
			r.console.ServeHTTP(httptest.NewRecorder(), request)
			left, err := os.ReadDir(temporary)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range left {
				t.Errorf("%s with %d bytes leaves %s", asked, size, file.Name())
				if err := os.Remove(temporary + "/" + file.Name()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A form with very many fields is refused instead of taking memory for each of them.
func TestAFormWithVeryManyFieldsIsRefused(t *testing.T) {
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for range maxFields + 1 {
		if err := form.WriteField("a", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/", &out)
	request.Header.Set("Content-Type", form.FormDataContentType())
	if _, _, err := readPosted(request); !errors.Is(err, errManyFields) {
		t.Errorf("got %v", err)
	}
	request = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("a&", 1<<20)))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if _, _, err := readPosted(request); err == nil {
		t.Error("a million fields were accepted")
	}
}

// halfSent is a body whose second half arrives only when the test permits it.
type halfSent struct {
	first, second io.Reader
	reached       func()
	goOn          <-chan struct{}
	once          sync.Once
}

// Read reads on.
func (h *halfSent) Read(p []byte) (int, error) {
	if n, err := h.first.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	h.once.Do(h.reached)
	<-h.goOn
	return h.second.Read(p)
}

// Forms take their share of the memory for bodies: of many large ones that are being sent
// at once, only so many are read as fit.
func TestLargeFormsWaitForEachOther(t *testing.T) {
	tier.Long(t, "waits as long as a form waits for memory")
	r := newRig(t, true, nil)
	secret := r.token("sender", access.RoleSubmitter)
	kind, sent := largeFile(t, 12<<20)
	reading, goOn := make(chan struct{}, 10), make(chan struct{})
	statuses := make(chan int, 10)
	send := func() {
		body := &halfSent{first: bytes.NewReader(sent[:len(sent)/2]), second: bytes.NewReader(sent[len(sent)/2:]), reached: func() { reading <- struct{}{} }, goOn: goOn}
		request := httptest.NewRequest(http.MethodPost, "/new/batch", body)
		request.ContentLength = int64(len(sent))
		request.Header.Set("Content-Type", kind)
		request.AddCookie(&http.Cookie{Name: sessionCookie, Value: secret})
		answer := httptest.NewRecorder()
		r.api.ServeHTTP(answer, request)
		statuses <- answer.Code
	}
	go send()
	<-reading
	go send()
	select {
	case <-reading:
		t.Error("the second form is read while the first has its share")
	case status := <-statuses: // it gives up waiting
		if status != http.StatusTooManyRequests {
			t.Errorf("the second form was answered with %d", status)
		}
	}
	close(goOn)
	if status := <-statuses; status == http.StatusTooManyRequests || status >= 500 {
		t.Errorf("the first form was answered with %d", status)
	}
}
