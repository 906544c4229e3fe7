// Package browser tests the console in a real Chromium. In the first tier, a user goes
// through the console once, from signing in to signing out. In the second tier, tests view
// every screen and fill in every form, in both languages, in light and dark colours, on a
// small and a large screen; see internal/tier. It is a module of its own, because no other
// code needs the browser driver.
package browser
