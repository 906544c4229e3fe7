package console

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
)

// threeWalls is a table of targets.
const threeWalls = "target_id,target_name,target_type,after\n1,north,wall,\"{\"\"colour\"\":\"\"red\"\"}\"\n2,south,wall,\n4,east,wall,\n"

var checkedMark = regexp.MustCompile(`name="checked" value="([0-9a-f]+)"`)

// checked sends a form that is to be checked, and returns it with the mark of the check.
func (r *rig) checked(form url.Values) (page string, again url.Values) {
	r.Helper()
	page = r.post(200, "/new/batch", form)
	mark := checkedMark.FindStringSubmatch(page)
	if mark == nil {
		r.Fatal("the form was not checked: " + page)
	}
	again = url.Values{"checked": {mark[1]}}
	for name, values := range form {
		again[name] = values
	}
	return page, again
}

func TestABatchIsCheckedAndThenCreated(t *testing.T) {
	r := newPainters(t, false)
	r.shows(r.page(200, "/new/batch"), `enctype="multipart/form-data"`, ">Check targets<", "target_id,target_type")
	preview, form := r.checked(url.Values{"name": {"all red"}, "type": {"paint"}, "lines": {threeWalls}, "max_running": {"2"}, "canary.tasks": {"1"}, "canary.ratio": {"1"}})
	r.shows(preview, "3 targets found. Nothing has been saved yet.", "<td class=\"wrap\">1 <small class=\"dim\">north</small></td>", "{&#34;colour&#34;:&#34;red&#34;}", ">Create batch<", `<details open>`)
	r.shows(r.page(200, "/batches"), "No batches yet")
	r.post(303, "/new/batch", form)
	b := r.batch(1)
	if b.Name != "all red" || b.Total != 3 || b.MaxRunning != 2 || b.Canary.Tasks != 1 {
		t.Errorf("the batch is %+v", b)
	}
}

func TestABatchThatWasEditedAfterTheCheckIsCheckedAgain(t *testing.T) {
	r := newPainters(t, false)
	_, form := r.checked(url.Values{"name": {"all red"}, "type": {"paint"}, "lines": {threeWalls}})
	form.Set("lines", threeWalls+"5,west,wall,\n")
	again, _ := r.checked(form)
	r.shows(again, "4 targets found.")
	r.shows(r.page(200, "/batches"), "No batches yet")
}

func TestBadLinesAreNamedBeforeAnythingIsStored(t *testing.T) {
	r := newPainters(t, false)
	page := r.post(400, "/new/batch", url.Values{"name": {"all red"}, "type": {"paint"}, "lines": {"target_id,target_type,after\n1,roof,\n2,wall,{\n3,wall\n"}})
	r.shows(page, `id="faults"`, "line 2, target_type", "no live node handles", "line 3, after", "is not valid JSON", "line 4", "wrong number of fields", "1,roof,", ">Check targets<")
	r.hides(page, `name="checked"`)
	r.shows(r.post(400, "/new/batch", url.Values{"lines": {threeWalls}}), `<td class="whole">name</td><td class="wrap">is required</td>`)
	r.shows(r.page(200, "/batches"), "No batches yet")
}

// sendFile sends a form with a file.
func (r *rig) sendFile(content []byte, fields url.Values) (status int, body string) {
	r.Helper()
	var sent bytes.Buffer
	form := multipart.NewWriter(&sent)
	for name := range fields {
		if err := form.WriteField(name, fields.Get(name)); err != nil {
			r.Fatal(err)
		}
	}
	name := "walls.csv"
	if content == nil {
		name = "" // as browsers send a file that was not chosen
	}
	file, err := form.CreateFormFile("lines", name)
	if err != nil {
		r.Fatal(err)
	}
	if _, err := file.Write(content); err != nil {
		r.Fatal(err)
	}
	if err := form.Close(); err != nil {
		r.Fatal(err)
	}
	request := httptest.NewRequestWithContext(r.Context(), "POST", "/new/batch", &sent)
	request.Host = "localhost"
	request.Header.Set("Content-Type", form.FormDataContentType())
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		r.Fatal(err)
	}
	return answer.Code, string(raw)
}

func TestAFileTakesThePlaceOfTheLines(t *testing.T) {
	r := newPainters(t, false)
	fields := url.Values{"name": {"all red"}, "type": {"paint"}, "lines": {"something else"}}
	status, page := r.sendFile([]byte("\ufeff"+strings.ReplaceAll(threeWalls, "\n", "\r\n")), fields)
	if status != 200 {
		t.Fatal(status, page)
	}
	r.shows(page, "3 targets found.", "1,north,wall,")
	r.hides(page, "something else")
	// The browser sends the lines of the file as it sends what was typed.
	fields.Set("checked", checkedMark.FindStringSubmatch(page)[1])
	fields.Set("lines", "\ufeff"+strings.ReplaceAll(strings.TrimSpace(threeWalls), "\n", "\r\n"))
	if status, page := r.sendFile(nil, fields); status != 303 {
		t.Fatal(status, page)
	}
	if b := r.batch(1); b.Total != 3 {
		t.Errorf("it has %d tasks", b.Total)
	}
}

func TestAFileThatIsTooLargeOrNoTextIsRefusedInTheForm(t *testing.T) {
	r := newPainters(t, false)
	fields := url.Values{"name": {"all red"}, "type": {"paint"}}
	status, page := r.sendFile(bytes.Repeat([]byte("x"), maxForm+1), fields)
	if status != 400 {
		t.Errorf("a file that is too large is answered with %d", status)
	}
	r.shows(page, `id="problem"`, "The form is larger than 16 MB.", `class="act"`)
	status, page = r.sendFile([]byte("target_id,target_type\n\xd6\xd0,wall\n"), fields)
	if status != 400 {
		t.Errorf("a file in another encoding is answered with %d", status)
	}
	r.shows(page, "walls.csv: is not UTF-8 text", `value="all red"`)
}

func TestABatchOfAnotherTenantIsRefusedInTheForm(t *testing.T) {
	r := newPainters(t, true)
	submitter := r.token("submitter", access.RoleSubmitter, "mine")
	form := url.Values{"name": {"all red"}, "type": {"paint"}, "tenant": {"theirs"}, "lines": {threeWalls}}
	r.shows(r.post(400, "/new/batch", form, sessionCookie, submitter), `id="faults"`, "theirs", "1,north,wall")
}
