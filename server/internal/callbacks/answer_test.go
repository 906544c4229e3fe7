package callbacks

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server/internal/overload"
)

func TestAnAnswerThatCannotBeReadIsRefusedForItsReason(t *testing.T) {
	if _, err := readCallback(io.MultiReader(strings.NewReader(`{"status":`), iotest.ErrReader(overload.ErrSlowBody))); !errors.Is(err, overload.ErrSlowBody) {
		t.Errorf("one that comes too slowly: %v", err)
	}
	if _, err := readCallback(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), "could not be read") {
		t.Errorf("one that is cut off or too large: %v", err)
	}
}

func TestAFailureWithoutAReasonHasOne(t *testing.T) {
	for body, want := range map[string]string{`{"status":"failure"}`: "the target reported a failure", `{"status":"failure","error":"no"}`: "no", `{"status":"success"}`: ""} {
		if answer, err := readCallback(strings.NewReader(body)); err != nil || answer.Error != want {
			t.Errorf("%s is read as %+v, %v", body, answer, err)
		}
	}
}
