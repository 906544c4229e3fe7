package console

import (
	"encoding/base64"
	"net/http"
)

// noticeCookie carries what is to be said on the next page, once.
const noticeCookie = "fairlead_notice"

// maxNotice is how many bytes of a notice are kept.
const maxNotice = 1000

// setNotice has the next page say what was done.
func (c *Console) setNotice(w http.ResponseWriter, r *http.Request, text string) {
	if text == "" {
		return
	}
	kept := base64.RawURLEncoding.EncodeToString([]byte(text[:min(len(text), maxNotice)]))
	http.SetCookie(w, c.cookie(r, &http.Cookie{Name: noticeCookie, Value: kept, MaxAge: 60, HttpOnly: true}))
}

// takeNotice is what is to be said on this page, which is then forgotten.
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
