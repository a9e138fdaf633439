"""What a kernel's body is written with. Every name here is also in `fa4dsl`."""
