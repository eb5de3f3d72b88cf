// Command hello stands for Dogwatch in tests of its image.
package main

func main() { println("hello") }
