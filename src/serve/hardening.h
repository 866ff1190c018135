// What a long-lived process of errand gives up at its start.
#pragma once

namespace errand::serve {

// Only the user reads what we write, a crash leaves no memory image, a closed pipe or terminal ends nothing, and there
// are as many descriptors as the system allows. For the server and the supervisor, before anything else.
void harden_process();

// A large block (a request's body, a page of a log) goes back to the system when it is freed. By itself glibc raises
// this size with the first one that is freed, and from then on the heap keeps twice of what large bodies took.
void bound_heap();

}  // namespace errand::serve
