package console

import (
	"bytes"
	"html/template"
	"net/http"
	"sync"
)

// templates are all pages.
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

func (t *templates) execute(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := t.set.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}

// shown is what a template is given: the visit, and what the screen has loaded.
type shown struct {
	*visit
	Screen *screen
	Data   any
}

func (v *visit) show(data any) *shown { return &shown{visit: v, Data: data} }

// With is the same visit with other data, for a template within a template.
func (s *shown) With(data any) *shown { return &shown{visit: s.visit, Screen: s.Screen, Data: data} }

// Part renders the head or the live part of the screen.
func (s *shown) Part(suffix string) (template.HTML, error) {
	body, err := s.console.templates.execute(s.Screen.name+suffix, s)
	return template.HTML(body), err // made by a template, which has escaped it
}

// render answers with a template.
func (c *Console) render(w http.ResponseWriter, status int, name string, data *shown) {
	body, err := c.templates.execute(name, data)
	if err != nil {
		c.options.Log.Error("console page failed", "path", data.Path, "error", err)
		http.Error(w, data.T("This page could not be made; the log of the server says why."), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a viewer who has gone needs no answer
}
