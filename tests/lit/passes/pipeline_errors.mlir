// RUN: %opt --expect-error place-shared-memori %s | FileCheck %s --check-prefix=TYPO
// RUN: %opt --expect-error canonicalise %s | FileCheck %s --check-prefix=UPSTREAM

// TYPO: error[C016]: there is no pass or pipeline element 'place-shared-memori'; did you mean place-shared-memory
// UPSTREAM: error[C016]: there is no pass or pipeline element 'canonicalise'
module { }
