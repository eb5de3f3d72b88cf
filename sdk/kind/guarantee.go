package kind

// Guarantee is how often at least, or at most, a delivery reaches a trigger: whether the host may repeat a call whose
// outcome it lost.
type Guarantee string

// The guarantees. A message that arrives twice is a nuisance; an action that runs twice can do damage.
const (
	AtLeastOnce Guarantee = "at-least-once"
	AtMostOnce  Guarantee = "at-most-once"
)

// Deliver sets whether the host may repeat a call whose outcome it lost:
// AtLeastOnce, which is the default, or AtMostOnce.
func Deliver(g Guarantee) Setting { return func(t *Type) { t.Guarantee = g } }
