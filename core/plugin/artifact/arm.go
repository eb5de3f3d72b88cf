package artifact

import "runtime/debug"

// armVariant is the variant of ARM that this program was built for, as OCI writes it.
func armVariant() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "GOARM" && s.Value != "" {
				return "v" + s.Value[:1]
			}
		}
	}
	return "v6"
}
