/**
 * Runs after the changes that were just made are in the document, but before the next key is handled: an animation frame
 * would come after keys that were pressed meanwhile. Preact renders in a microtask, which comes first.
 */
export const onceRendered = (act: () => void): void => queueMicrotask(act)
