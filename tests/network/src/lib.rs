//! What the tests of network transports share.
