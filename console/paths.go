package console

// Paths returns the paths of all screens as http.ServeMux patterns. Programs that measure or
// check every screen use it.
func Paths() (all []string) {
	for _, s := range screens {
		all = append(all, s.path)
	}
	return all
}
