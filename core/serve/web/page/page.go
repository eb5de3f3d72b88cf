package page

// SelectOption is one entry of a select.
type SelectOption struct {
	Value, Word string
	Chosen      bool
}

// Size is how many rows a page of a list has.
const Size = 50

// Link is a link to a page of ours.
type Link struct{ Text, To string }
