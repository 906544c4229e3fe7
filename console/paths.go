package console

// Paths are the paths of all screens, as patterns of http.ServeMux. What measures or
// checks every screen knows by them which there are.
func Paths() (all []string) {
	for _, s := range screens {
		all = append(all, s.path)
	}
	return all
}
