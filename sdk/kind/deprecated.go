package kind

// Delivery is the name of Guarantee up to version 2.1.0.
//
// Deprecated: use Guarantee. A delivery is one message to one trigger.
type Delivery = Guarantee
