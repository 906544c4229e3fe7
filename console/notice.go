package console

import (
	"encoding/base64"
	"net/http"
)

// noticeCookie contains a message to show once on the next page.
const noticeCookie = "fairlead_notice"

// maxNotice limits the size of a notice in bytes.
const maxNotice = 1000

// setNotice makes the next page show a message.
func (c *Console) setNotice(w http.ResponseWriter, r *http.Request, text string) {
	if text == "" {
		return
	}
	kept := base64.RawURLEncoding.EncodeToString([]byte(text[:min(len(text), maxNotice)]))
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: noticeCookie, Value: kept, MaxAge: 60, HttpOnly: true}))
}

// takeNotice returns the message to show on this page, and deletes it.
func (c *Console) takeNotice(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(noticeCookie)
	if err != nil {
		return ""
	}
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: noticeCookie, MaxAge: -1, HttpOnly: true}))
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	return string(text)
}
