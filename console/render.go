package console

import (
	"bytes"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// templates contains the templates of all pages.
type templates struct {
	set *template.Template
}

// parseTemplates returns the templates, which all consoles share.
var parseTemplates = sync.OnceValues(func() (*templates, error) {
	set, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{"dict": dict}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	return &templates{set: set}, nil
})

func (t *templates) execute(name string, data *shown) ([]byte, error) {
	var b bytes.Buffer
	if typed := sizeOf(data.posted); typed > smallPage {
		b.Grow(typed + smallPage) // the page repeats the input
	}
	data.to = &b
	err := t.set.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

func sizeOf(typed url.Values) (bytes int) {
	for _, values := range typed {
		for _, value := range values {
			bytes += len(value)
		}
	}
	return bytes
}

// shown is the data of a template: the visit, and the data that the screen has loaded.
type shown struct {
	*visit
	Screen *screen
	Data   any
	to     io.Writer // receives the page
}

func (v *visit) show(data any) *shown { return &shown{visit: v, Data: data} }

// With returns the same visit with other data, for a nested template.
func (s *shown) With(data any) *shown {
	return &shown{visit: s.visit, Screen: s.Screen, Data: data, to: s.to}
}

// Part writes the head or the live part of the screen to the page. It returns nothing to
// the template, because a part may be as large as a form and would be copied.
func (s *shown) Part(suffix string) (nothing template.HTML, err error) {
	return "", s.console.templates.set.ExecuteTemplate(s.to, s.Screen.name+suffix, s)
}

// Large writes a value to the page in pieces, escaped for both text and quoted attributes.
// It returns nothing to the template, because a value with megabytes would be copied.
func (s *shown) Large(value string) (nothing template.HTML, err error) {
	for piece := make([]byte, 0, 4<<10); value != ""; {
		n := min(len(value), cap(piece))
		template.HTMLEscape(s.to, append(piece, value[:n]...))
		value = value[n:]
	}
	return "", nil
}

// render renders a template as the response.
func (c *Console) render(w http.ResponseWriter, status int, name string, data *shown) {
	body, err := c.templates.execute(name, data)
	if err != nil {
		c.options.Log.Error("console page failed", "path", data.Path, "error", err)
		http.Error(w, data.T("This page could not be displayed. See the server log for the reason."), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the viewer may have disconnected
}
